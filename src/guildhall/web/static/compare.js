// The clock of active time, ranks and keys of the comparing page. Everything works without this file.
"use strict";
(() => {
  const form = document.getElementById("verdict-form"), clock = document.getElementById("clock");
  const headers = { accept: "application/json", "x-form-token": form.elements["form_token"].value };

  // The clock: a beat every 15 s and at every change, each telling how the time since the last one was spent.
  const outside = document.getElementById("outside"), veil = document.getElementById("veil");
  const media = () => [...document.querySelectorAll("audio, video")];
  const wordsInView = () => [...document.querySelectorAll(".prose, pre, .book, .page-words")]
    .filter((block) => { const box = block.getBoundingClientRect(); return box.height && box.bottom > 0 && box.top < innerHeight; })
    .reduce((sum, block) => sum + block.textContent.split(/\s+/).length, 0);
  let touched = Date.now(), booked = -1;
  const state = () => ({
    visible: document.visibilityState === "visible", focused: document.hasFocus(), outside: outside.checked,
    media: media().some((one) => !one.paused), idle_s: Math.round((Date.now() - touched) / 1000), words: wordsInView(),
  });
  let before = state();
  const beat = async () => {
    const spent = { ...before, idle_s: Math.round((Date.now() - touched) / 1000), words: wordsInView() };
    before = state();
    const body = new URLSearchParams(Object.entries(spent).map(([name, value]) => [name, String(Number(value))]));
    try {
      const answer = await fetch(`/sets/${form.dataset.seat}/beat`, { method: "POST", body, headers, keepalive: true });
      if (!answer.ok) return;
      const told = await answer.json();
      const paused = told.active_s === booked && booked > 0;
      booked = told.active_s;
      clock.hidden = false;
      clock.textContent = `${Math.floor(booked / 60)} min${clock.dataset.about ? ` of about ${clock.dataset.about}` : ""}${paused ? ` · paused: ${spent.visible ? "nothing was touched" : "the tab was hidden"}` : ""}`;
      if (paused && spent.idle_s > 300 && !veil.open && document.visibilityState === "visible") veil.showModal();
    } catch { /* the next beat tells */ }
  };
  for (const kind of ["pointerdown", "pointermove", "keydown", "wheel", "scroll"]) {
    addEventListener(kind, () => {
      if (Date.now() - touched > 60000) beat();
      touched = Date.now();
    }, { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", beat);
  outside.addEventListener("change", beat);
  for (const kind of ["play", "pause", "ended"]) document.addEventListener(kind, beat, { capture: true });
  setInterval(beat, 15000);
  beat();

  // Ranks of larger sets, read back as an order.
  const ranking = document.getElementById("ranking"), ranks = [...form.querySelectorAll("input[name^='rank-']")];
  const readBack = () => {
    const groups = new Map();
    ranks.map((field) => [field.name.slice(5), Number(field.value)]).filter(([, rank]) => rank > 0).sort((a, b) => a[1] - b[1])
      .forEach(([place, rank]) => groups.set(rank, [...(groups.get(rank) || []), place]));
    ranking.textContent = groups.size ? [...groups.values()].map((places) => places.join(" = ")).join("  >  ") : "";
  };
  if (ranking) { form.addEventListener("input", readBack); readBack(); }

  // Keys: printed on what they work, can be turned off, silent while one writes.
  const help = document.getElementById("key-help"), keys = document.getElementById("keys"), off = document.getElementById("keys-off");
  keys.addEventListener("click", () => { help.hidden = !help.hidden; keys.setAttribute("aria-expanded", String(!help.hidden)); });
  off.checked = localStorage.getItem("guildhall-keys-off") === "1";
  off.addEventListener("change", () => localStorage.setItem("guildhall-keys-off", off.checked ? "1" : "0"));
  const choose = (value) => {
    const option = form.querySelector(`input[name="overall"][value="${value}"]`);
    if (option) { option.checked = true; option.focus(); form.keepChanged(); }
  };
  let ahead = null;
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (key === "Enter" && (event.ctrlKey || event.metaKey)) { form.querySelector("button.main").click(); return; }
    if (off.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    const rank = ranks.indexOf(target);
    const goneOn = ahead === target && key === "Tab" && !event.shiftKey; // who types "2, Tab" is there already
    ahead = null;
    if (goneOn) { event.preventDefault(); return; }
    if (rank >= 0 && ranks.length < 10 && /^[1-9]$/.test(key) && Number(key) <= ranks.length) {
      // One key ranks a side and goes on to the next: "2 1 1" ranks three, two of them alike.
      target.value = key;
      readBack();
      form.keepChanged();
      ahead = ranks[rank + 1] || form.elements["reason"];
      ahead.focus();
      event.preventDefault();
      return;
    }
    if (target.closest("textarea, input:not([type=radio]):not([type=checkbox]), select, dialog")) {
      if (key === "Escape") target.blur();
      return;
    }
    if (key === "a") choose("A");
    else if (key === "b") choose("B");
    else if (key === "t") choose("tie");
    else if (key === "v") form.querySelector("input[type=radio], input[type=number]").focus();
    else if (key === "?") keys.click();
    else if (!window.guildhallViewer.key(key)) return;
    event.preventDefault();
  });
})();
