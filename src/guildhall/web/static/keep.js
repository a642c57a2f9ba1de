// Nothing typed is lost: forms with `data-keep` save themselves at its address, or only in this tab where it is empty.
// Every form works without this file.
"use strict";
const guildhallKeep = (form) => {
  const address = form.dataset.keep, counter = form.elements[form.dataset.counter || ""];
  const who = document.querySelector(".who")?.textContent; // another person at this tab is not shown what this one typed
  const place = `guildhall ${who} ${location.pathname}#${form.id}`;
  const says = document.getElementById(form.dataset.says) || form.querySelector("[role=status]");
  const version = () => (counter ? counter.value : form.dataset.version || "");
  const hidden = new Set(["form_token", form.dataset.counter]);
  const texts = () => [...new FormData(form)].filter(([name, value]) => typeof value === "string" && !hidden.has(name));
  const say = (words, bad = false) => {
    if (!says) return;
    says.textContent = words;
    says.classList.toggle("bad", bad);
  };
  const timeOf = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 19) + " UTC";

  let timer = 0, saving = false, again = false, refused = false;
  const put = (sent = false) => {
    try { sessionStorage.setItem(place, JSON.stringify({ version: version(), entries: texts(), sent })); } catch { /* no room: the server keeps it */ }
  };
  const changed = () => {
    put();
    if (refused) return;
    if (!address) { say("kept in this tab until you send it"); return; }
    say("saving …");
    clearTimeout(timer);
    timer = setTimeout(save, 800);
  };
  const save = async () => {
    if (saving) { again = true; return; }
    saving = true;
    try {
      const sent = texts().filter(([name, value]) => value !== "" && !/^(add|remove)_/.test(name));
      const body = new URLSearchParams([...sent, ["form_token", form.elements["form_token"].value], [form.dataset.counter, version()], ["act", "save"]]);
      const answer = await fetch(address, { method: "POST", body, headers: { accept: "application/json" } });
      if (answer.status === 409) {
        refused = true;
        say("A newer draft was saved in another tab. Reload to see it; your text here is kept.", true);
        return;
      }
      if (answer.redirected || answer.status === 403) {
        say("not saved: you are no longer signed in. Come in again in another tab, then reload this one: your text is kept here.", true);
        timer = setTimeout(save, 10000);
        return;
      }
      if (answer.status === 400) {
        say(`not saved: ${(await answer.json()).fault}`, true);
        return;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      const told = await answer.json();
      counter.value = told.version;
      if (again) put(); else sessionStorage.removeItem(place);
      say(`saved ${timeOf(told.saved_at)}`);
    } catch {
      say("not saved: no connection. Trying again; your text is kept here.", true);
      timer = setTimeout(save, 5000);
    } finally {
      saving = false;
      if (again) { again = false; clearTimeout(timer); timer = setTimeout(save, 200); }
    }
  };

  // What this tab holds and the server has not: put back where nothing newer is there, else shown beside it.
  const putBack = (entries) => {
    for (const [name, value] of entries) {
      const field = form.elements[name];
      if (!field) {
        if (name.startsWith("note-")) form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value, className: "note-kept" }));
      } else if (field instanceof RadioNodeList || !["file", "checkbox", "submit", "hidden"].includes(field.type) || field.className === "note-kept") {
        field.value = value;
        if (field.type === "textarea" && value && field.closest("details")) field.closest("details").open = true;
      }
    }
  };
  const showBeside = (entries) => {
    const now = new Map(texts());
    const lost = entries.filter(([name, value]) => /\s/.test(value.trim()) && now.get(name)?.trim() !== value.trim());
    if (!lost.length) return false;
    const box = document.createElement("section");
    box.className = "notice warn unsaved";
    box.append(Object.assign(document.createElement("h2"), { textContent: "Typed here, and not saved" }));
    for (const [, value] of lost) box.append(Object.assign(document.createElement("p"), { textContent: value, className: "said" }));
    const done = Object.assign(document.createElement("button"), { type: "button", textContent: "I have copied what I need" });
    done.addEventListener("click", () => { sessionStorage.removeItem(place); box.remove(); });
    box.append(done);
    form.before(box);
    return true;
  };
  const kept = sessionStorage.getItem(place);
  if (kept) {
    const { version: then, entries, sent } = JSON.parse(kept);
    if (then === version()) { putBack(entries); if (address) changed(); else say("what you had typed is back"); }
    else if ((sent && !address) || !showBeside(entries)) sessionStorage.removeItem(place); // it came where it was sent
  }
  // Fields may stand outside the form's own markup: notes are beside their pages.
  document.addEventListener("input", (event) => { if (event.target.form === form) changed(); });
  form.addEventListener("submit", () => { clearTimeout(timer); put(true); });
  return changed;
};
for (const form of document.querySelectorAll("form[data-keep]")) form.keepChanged = guildhallKeep(form);
