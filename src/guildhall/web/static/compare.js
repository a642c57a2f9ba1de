// Autosave, the active-time clock, panes and keys. Every form works without this file.
"use strict";
(() => {
  const form = document.getElementById("verdict-form");
  const saved = document.getElementById("saved");
  const clock = document.getElementById("clock");
  const panes = document.getElementById("panes");
  const seat = form.dataset.seat;
  const token = form.elements["form_token"].value;
  const vault = `guildhall-draft-${seat}`;
  const headers = { accept: "application/json", "x-form-token": token };

  const say = (words, bad = false) => {
    saved.textContent = words;
    saved.classList.toggle("bad", bad);
  };
  const timeOf = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 19) + " UTC";

  // Drafts: saved 0.8 s after the last change; a copy stays in this tab until the server has it.
  let timer = 0, saving = false, again = false;
  const filled = () => new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  const changed = () => {
    sessionStorage.setItem(vault, JSON.stringify([...new FormData(form)].filter(([name]) => name !== "form_token")));
    say("saving …");
    clearTimeout(timer);
    timer = setTimeout(save, 800);
  };
  const save = async () => {
    if (saving) { again = true; return; }
    saving = true;
    try {
      const answer = await fetch(`/sets/${seat}/draft`, { method: "POST", body: filled(), headers });
      if (answer.status === 409) {
        say("A newer draft was saved in another tab. Reload to see it; your text here is kept.", true);
        return;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      const told = await answer.json();
      form.elements["draft_version"].value = told.version;
      if (!again) sessionStorage.removeItem(vault);
      say(`saved ${timeOf(told.saved_at)}`);
    } catch {
      say("not saved: no connection. Trying again; your text is kept here.", true);
      timer = setTimeout(save, 5000);
    } finally {
      saving = false;
      if (again) { again = false; clearTimeout(timer); timer = setTimeout(save, 200); }
    }
  };
  // Notes stand beside their pages, outside the form's own markup.
  document.addEventListener("input", (event) => { if (event.target.form === form) changed(); });
  form.addEventListener("submit", () => sessionStorage.removeItem(vault));
  const kept = sessionStorage.getItem(vault);
  if (kept) {
    const entries = new Map(JSON.parse(kept));
    if (entries.get("draft_version") === form.elements["draft_version"].value) {
      for (const [name, value] of entries) {
        const field = form.elements[name];
        if (field && name !== "draft_version") field.value = value;
      }
      changed();
    }
  }

  // The clock: a beat every 15 s and at every change, each telling how the time since the last one was spent.
  const outside = document.getElementById("outside");
  const veil = document.getElementById("veil");
  const media = [...document.querySelectorAll("audio, video")];
  const wordsInView = () => [...document.querySelectorAll(".prose, pre, .grid")]
    .filter((block) => { const box = block.getBoundingClientRect(); return box.height && box.bottom > 0 && box.top < innerHeight; })
    .reduce((sum, block) => sum + block.textContent.split(/\s+/).length, 0);
  let touched = Date.now(), booked = -1;
  const state = () => ({
    visible: document.visibilityState === "visible", focused: document.hasFocus(), outside: outside.checked,
    media: media.some((one) => !one.paused), idle_s: Math.round((Date.now() - touched) / 1000), words: wordsInView(),
  });
  let before = state();
  const beat = async () => {
    const spent = { ...before, idle_s: Math.round((Date.now() - touched) / 1000), words: wordsInView() };
    before = state();
    const body = new URLSearchParams(Object.entries(spent).map(([name, value]) => [name, String(Number(value))]));
    try {
      const answer = await fetch(`/sets/${seat}/beat`, { method: "POST", body, headers, keepalive: true });
      if (!answer.ok) return;
      const told = await answer.json();
      const paused = told.active_s === booked && booked > 0;
      booked = told.active_s;
      clock.hidden = false;
      clock.textContent = `${Math.floor(booked / 60)} min${paused ? ` · paused: ${spent.visible ? "nothing was touched" : "the tab was hidden"}` : ""}`;
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
  for (const one of media) for (const kind of ["play", "pause", "ended"]) one.addEventListener(kind, beat);
  setInterval(beat, 15000);
  beat();

  // Panes: scroll together from where they are, zoom, swap, one at a time.
  const sides = [...document.querySelectorAll(".pane")];
  const sync = document.getElementById("sync");
  let offsets = null, leading = false;
  sync.addEventListener("change", () => { offsets = sync.checked ? sides.map((pane) => pane.scrollTop - sides[0].scrollTop) : null; });
  sides.forEach((pane, index) => pane.addEventListener("scroll", () => {
    if (!offsets || leading) return;
    leading = true;
    sides.forEach((other, at) => { if (at !== index) other.scrollTop = pane.scrollTop - offsets[index] + offsets[at]; });
    requestAnimationFrame(() => { leading = false; });
  }));
  let zoom = 2;
  const setZoom = (to) => { panes.classList.remove(`zoom-${zoom}`); zoom = Math.min(4, Math.max(1, to)); panes.classList.add(`zoom-${zoom}`); };
  document.getElementById("larger").addEventListener("click", () => setZoom(zoom + 1));
  document.getElementById("smaller").addEventListener("click", () => setZoom(zoom - 1));
  document.getElementById("swap").addEventListener("click", () => panes.classList.toggle("swapped"));
  const alone = (pane) => {
    const on = !(panes.classList.contains("alone") && pane.classList.contains("chosen"));
    sides.forEach((one) => one.classList.toggle("chosen", one === pane));
    panes.classList.toggle("alone", on);
  };

  const picks = [...document.querySelectorAll(".pick")];
  const show = () => picks.forEach((pick, at) => { sides[at].hidden = !pick.checked; });
  picks.forEach((pick, at) => { pick.checked = at < 2; pick.addEventListener("change", show); });
  show();

  // Notes: the one of the page in view; quoted in the reasons on demand.
  const noteInView = (pane) => {
    const top = pane.getBoundingClientRect().top;
    const notes = [...pane.querySelectorAll(".pin")];
    const note = notes.find((one) => one.getBoundingClientRect().bottom > top + 40) || notes.at(-1);
    if (!note) return;
    if (note.closest(".printed")) note.closest(".printed").open = true;
    note.open = true;
    note.querySelector("textarea").focus();
  };
  document.querySelectorAll(".quote").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => {
      const note = form.elements[button.dataset.note].value.trim(), reason = form.elements["reason"];
      if (!note) return;
      reason.value = `${reason.value.trim()}\n${button.dataset.from}: ${note}`.trim();
      changed();
    });
  });

  // Ranks of larger sets, read back as an order.
  const ranking = document.getElementById("ranking");
  const readBack = () => {
    const given = [...form.querySelectorAll("input[name^='rank-']")].map((field) => [field.name.slice(5), Number(field.value)]);
    const groups = new Map();
    given.filter(([, rank]) => rank > 0).sort((a, b) => a[1] - b[1]).forEach(([place, rank]) => groups.set(rank, [...(groups.get(rank) || []), place]));
    ranking.textContent = groups.size ? [...groups.values()].map((places) => places.join(" = ")).join("  >  ") : "";
  };
  if (ranking) { form.addEventListener("input", readBack); readBack(); }

  // Keys: shown by the button, can be turned off, silent while one writes.
  const help = document.getElementById("key-help"), keys = document.getElementById("keys"), off = document.getElementById("keys-off");
  keys.addEventListener("click", () => { help.hidden = !help.hidden; keys.setAttribute("aria-expanded", String(!help.hidden)); });
  off.checked = localStorage.getItem("guildhall-keys-off") === "1";
  off.addEventListener("change", () => localStorage.setItem("guildhall-keys-off", off.checked ? "1" : "0"));
  const choose = (value) => {
    const option = form.querySelector(`input[name="overall"][value="${value}"]`);
    if (option) { option.checked = true; option.focus(); changed(); }
  };
  addEventListener("keydown", (event) => {
    if (off.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("textarea, input:not([type=radio]):not([type=checkbox]), select, dialog")) return;
    const pane = document.activeElement.closest(".pane") || sides.find((one) => !one.hidden) || sides[0];
    const key = event.key;
    if (/^[1-9]$/.test(key) && sides[key - 1]) {
      if (picks[key - 1] && !picks[key - 1].checked) picks[key - 1].click();
      sides[key - 1].focus();
    }
    else if (key === "[") pane.scrollBy(0, -pane.clientHeight * 0.9);
    else if (key === "]") pane.scrollBy(0, pane.clientHeight * 0.9);
    else if (key === "s") sync.click();
    else if (key === "f") alone(pane);
    else if (key === "n") noteInView(pane);
    else if (key === "a") choose("A");
    else if (key === "b") choose("B");
    else if (key === "t") choose("tie");
    else if (key === "v") document.querySelector("#verdict-form input[type=radio], #verdict-form input[type=number]").focus();
    else if (key === "?") keys.click();
    else return;
    event.preventDefault();
  });
})();
