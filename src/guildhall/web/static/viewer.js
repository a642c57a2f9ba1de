// The panes of the comparing page: files opened in place, pages, zoom, search, linked scrolling. All of it works, by
// leading to other addresses, without this file too.
"use strict";
(() => {
  const hall = document.getElementById("hall"), panes = document.getElementById("panes");
  const form = document.getElementById("verdict-form"), home = hall.dataset.home;
  const sides = [...panes.querySelectorAll(".pane")];
  const shown = (pane) => pane.querySelector(".shown");
  const file = (pane) => pane.querySelector(".file");
  const inForm = (name) => [...form.elements].find((one) => one.name === name);

  // Opening: one file a side is in the page. Notes of a file that is put away are carried by hidden fields.
  const putNotesAway = (place) => {
    for (const note of place.querySelectorAll("textarea[name^='note-']")) {
      if (note.value.trim()) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: note.name, value: note.value, className: "note-kept" }));
    }
  };
  const takeNotesBack = (place) => {
    for (const note of place.querySelectorAll("textarea[name^='note-']")) {
      const kept = [...document.querySelectorAll(".note-kept")].filter((one) => one.name === note.name);
      if (kept.length) { note.value = kept.at(-1).value; note.closest("details").open = true; }
      kept.forEach((one) => one.remove());
    }
  };
  const parts = async (address) => {
    const answer = await fetch(address, { headers: { accept: "application/json" } });
    if (answer.redirected) throw new Error("You are no longer signed in. Come in again in another tab; your text is kept here.");
    if (!answer.ok) throw new Error("This could not be brought here. Try again.");
    return new DOMParser().parseFromString(await answer.text(), "text/html").body;
  };
  let turn = 0;
  const open = async (place, address) => {
    const mine = String(++turn);
    place.dataset.turn = mine;
    place.setAttribute("aria-busy", "true");
    try {
      const body = await parts(address);
      if (place.dataset.turn !== mine) return; // another file was asked for meanwhile
      putNotesAway(place);
      place.replaceChildren(...body.childNodes);
      takeNotesBack(place);
      dress(place);
    } catch (fault) {
      if (place.dataset.turn === mine) place.prepend(Object.assign(document.createElement("p"), { className: "omitted", textContent: fault.message || "No connection. Try again." }));
    } finally {
      if (place.dataset.turn === mine) place.removeAttribute("aria-busy");
    }
  };
  const openTab = async (pane, tab) => {
    pane.querySelectorAll(".files [aria-current]").forEach((one) => one.removeAttribute("aria-current"));
    if (tab.matches("button")) { tab.setAttribute("aria-current", "true"); tab.scrollIntoView({ block: "nearest", inline: "nearest" }); }
    else tab.selected = true;
    await open(pane.querySelector(".opened"), tab.dataset.src);
    shown(pane).scrollTop = 0;
  };
  document.addEventListener("click", (event) => {
    const lead = event.target.closest("button[data-src]"), pane = lead?.closest(".pane");
    if (!pane) return;
    event.preventDefault();
    if (lead.closest(".files")) openTab(pane, lead);
    else open(lead.closest(".opened"), lead.dataset.src);
  });
  panes.addEventListener("change", (event) => {
    if (event.target.matches("select[data-files]")) openTab(event.target.closest(".pane"), event.target.selectedOptions[0]);
  });
  for (const one of document.querySelectorAll("details[data-src]")) {
    one.addEventListener("toggle", () => {
      if (!one.open || one.dataset.there) return;
      one.dataset.there = "1";
      const place = document.createElement("div");
      one.querySelector("p")?.replaceWith(place);
      open(place, one.dataset.src);
    });
  }
  const allFiles = (by) => {
    for (const pane of sides.filter((one) => !one.hidden)) {
      const tabs = [...pane.querySelectorAll(".files [data-src]")];
      const at = tabs.findIndex((one) => (one.matches("option") ? one.selected : one.hasAttribute("aria-current")));
      if (tabs[at + by]) openTab(pane, tabs[at + by]);
    }
  };

  // Words of a page come when one comes near it, and go when it is far: the page stays light.
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      const article = target.closest(".file"), words = target.querySelector(".page-words");
      if (isIntersecting && !words && !target.dataset.asked) {
        target.dataset.asked = "1";
        parts(`${article.dataset.src}?words=${target.dataset.page}`)
          .then((body) => { if (body.firstElementChild) target.querySelector(".picture").append(body.firstElementChild); mark(target); })
          .catch(() => delete target.dataset.asked);
      } else if (!isIntersecting && words) { words.remove(); delete target.dataset.asked; }
    }
  }, { root: null, rootMargin: "60% 0px" });

  // Pages: where one is, going to another, small pictures of all.
  const pages = (pane) => [...pane.querySelectorAll("figure.page")];
  const topOf = (pane) => { const box = shown(pane).getBoundingClientRect(); return box.top + (pane.querySelector(".file-head")?.offsetHeight || 0); };
  const placeIn = (pane) => {
    const all = pages(pane), line = topOf(pane) + 1;
    if (!all.length || !all[0].offsetParent) return null;
    const index = Math.max(0, all.findLastIndex((one) => one.getBoundingClientRect().top <= line));
    const box = all[index].getBoundingClientRect();
    return { page: index + 1, part: (line - box.top) / (box.height || 1) };
  };
  const goTo = (pane, page, part = 0) => {
    const all = pages(pane), target = all[Math.min(Math.max(page, 1), all.length) - 1];
    if (!target) return;
    const printed = target.closest(".printed");
    if (printed) printed.open = true;
    const box = target.getBoundingClientRect();
    shown(pane).scrollTop += box.top + part * box.height - topOf(pane);
  };
  const tell = (pane) => {
    const at = placeIn(pane), field = pane.querySelector(".at-page");
    if (!at || !field || document.activeElement === field) return;
    field.value = at.page;
    pane.querySelectorAll(".strip button").forEach((one, index) => one.toggleAttribute("aria-current", index + 1 === at.page));
  };
  const strip = (pane) => {
    const there = pane.querySelector(".strip"), button = pane.querySelector(".thumbs");
    if (!button) return;
    button.setAttribute("aria-pressed", String(!there));
    if (there) { there.remove(); return; }
    const nav = Object.assign(document.createElement("nav"), { className: "strip" });
    nav.setAttribute("aria-label", "Pages");
    pages(pane).forEach((one, index) => {
      const go = Object.assign(document.createElement("button"), { type: "button" });
      const picture = Object.assign(document.createElement("img"), { loading: "lazy", src: one.querySelector("img").src, alt: "" });
      go.append(picture, String(index + 1));
      go.addEventListener("click", () => goTo(pane, index + 1));
      nav.append(go);
    });
    file(pane).querySelector(".file-head").after(nav);
    tell(pane);
  };

  // Workbooks: only the rows in view are in the page; the rest is brought as one scrolls.
  const ROW = 26;
  const spacer = (rows) => { const row = document.createElement("tr"); row.className = "spacer"; row.style.height = `${rows * ROW}px`; return row; };
  const scrollable = (book) => {
    const { sheet, left } = book.dataset, rows = Number(book.dataset.rows), size = Number(book.dataset.size);
    const cells = book.querySelector(".cells"), body = book.querySelector("tbody"), src = book.closest(".file").dataset.src;
    book.querySelectorAll(".windows:has([aria-label^='Rows'])").forEach((one) => one.remove());
    const windows = new Map([[Number(book.dataset.top), Promise.resolve([...body.rows])]]);
    const window_ = (top) => {
      if (!windows.has(top)) {
        const brought = parts(`${src}?sheet=${sheet}&left=${left}&top=${top}&cells=1`).then((found) => [...found.querySelectorAll("tr")]);
        brought.catch(() => windows.delete(top));
        windows.set(top, brought);
        if (windows.size > 12) windows.delete(windows.keys().next().value);
      }
      return windows.get(top);
    };
    let drawn = "";
    const draw = async () => {
      const first = Math.floor(cells.scrollTop / ROW), last = first + Math.ceil(cells.clientHeight / ROW) + 1;
      const tops = [];
      for (let top = Math.floor(first / size) * size; top < Math.min(last, rows); top += size) tops.push(top);
      if (!tops.length || drawn === tops.join()) return;
      drawn = tops.join();
      const mine = drawn;
      try {
        const brought = (await Promise.all(tops.map(window_))).flat();
        if (drawn !== mine) return;
        const at = cells.scrollTop;
        body.replaceChildren(spacer(tops[0]), ...brought, spacer(Math.max(0, rows - tops.at(-1) - size)));
        if (cells.scrollTop !== at) cells.scrollTop = at;
        mark(book);
      } catch { drawn = ""; }
    };
    cells.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
    book.toRow = (at) => { cells.scrollTop = Math.max(0, at * ROW - cells.clientHeight / 3); draw(); };
    body.prepend(spacer(Number(book.dataset.top)));
    draw();
  };
  const choose = (cell) => {
    const book = cell.closest(".book"), bar = book.querySelector(".fx");
    book.querySelectorAll("td.chosen").forEach((one) => one.classList.remove("chosen"));
    cell.classList.add("chosen");
    bar.hidden = false;
    const letter = book.querySelector("thead tr").cells[cell.cellIndex].textContent;
    bar.querySelector(".cell").textContent = `${letter}${cell.parentElement.cells[0].textContent}`;
    bar.querySelector(".meaning").textContent = cell.dataset.f ? `${cell.dataset.f}   gives   ${cell.textContent}` : cell.textContent;
  };
  panes.addEventListener("click", (event) => { const cell = event.target.closest(".cells tbody td"); if (cell) choose(cell); });
  panes.addEventListener("keydown", (event) => {
    const cells = event.target.closest?.(".cells"), moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!cells || !moves || event.ctrlKey || event.altKey || event.metaKey) return;
    const at = cells.querySelector("td.chosen"), row = at?.parentElement;
    const next = at ? (moves[0] < 0 ? row.previousElementSibling : moves[0] > 0 ? row.nextElementSibling : row)?.cells[at.cellIndex + moves[1]] : cells.querySelector("tbody td");
    if (!next?.matches("td") || next.closest(".spacer")) return;
    event.preventDefault();
    choose(next);
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  // Search: in all files of all sides, found by the server, so that files need not be here to be searched.
  const seek = document.getElementById("seek"), hits = document.getElementById("hits");
  let sought = "";
  const mark = (place) => {
    const holds = (one) => Boolean(sought) && one.textContent.toLowerCase().includes(sought);
    place.querySelectorAll(".cells td").forEach((one) => one.classList.toggle("hit", holds(one)));
    place.querySelectorAll(".page-words rect").forEach((one) => one.remove());
    for (const one of place.querySelectorAll(".page-words text")) {
      if (!holds(one)) continue;
      const size = Number(one.getAttribute("font-size")), box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      const facts = { x: one.getAttribute("x"), y: Number(one.getAttribute("y")) - 0.8 * size, width: one.getAttribute("textLength"), height: size };
      for (const [name, value] of Object.entries(facts)) box.setAttribute(name, value);
      if (one.hasAttribute("transform")) box.setAttribute("transform", one.getAttribute("transform"));
      one.before(box);
    }
  };
  const search = async () => {
    sought = seek.elements["q"].value.trim().toLowerCase();
    mark(panes);
    hits.hidden = !sought;
    if (!sought) return;
    const asked = sought;
    hits.textContent = "searching …";
    try {
      const body = await parts(`${home}/search?q=${encodeURIComponent(asked)}`);
      if (asked === sought) hits.replaceChildren(...body.childNodes);
    } catch (fault) { hits.textContent = fault.message; }
  };
  seek.addEventListener("submit", (event) => { event.preventDefault(); search(); });
  seek.elements["q"].addEventListener("input", () => { if (!seek.elements["q"].value) search(); });
  hits.addEventListener("click", async (event) => {
    const hit = event.target.closest("button[data-file]");
    if (!hit) return;
    const { file: what, number, row } = hit.dataset;
    const pane = sides.find((one) => one.dataset.place === what.split(".")[0]);
    const pick = document.querySelector(`.pick[value="${pane.dataset.place}"]`);
    if (pick && !pick.checked) pick.click();
    const tab = [...pane.querySelectorAll(".files [data-src]")].find((one) => one.dataset.src.endsWith(`/${what}`));
    if (file(pane)?.dataset.what !== what) await openTab(pane, tab);
    if (row === undefined) goTo(pane, Number(number));
    else {
      if (pane.querySelector(".book").dataset.sheet !== number) await open(pane.querySelector(".opened"), `${home}/files/${what}?sheet=${number}`);
      const book = pane.querySelector(".book");
      if (book.toRow) book.toRow(Number(row)); else book.querySelectorAll("tbody tr")[Number(row)]?.scrollIntoView({ block: "center" });
    }
    mark(pane);
  });

  const dress = (place) => {
    place.querySelectorAll(".jump").forEach((one) => { one.hidden = false; });
    place.querySelectorAll("figure.page").forEach((one) => near.observe(one));
    place.querySelectorAll(".book").forEach((one) => { if (one.querySelector(".windows [aria-label^='Rows']")) scrollable(one); });
    place.querySelectorAll(".quote").forEach((one) => { one.hidden = false; });
    if (sought) mark(place);
  };
  dress(document);
  panes.addEventListener("click", (event) => {
    const pane = event.target.closest(".pane"), step = event.target.closest("[data-step]");
    if (step) goTo(pane, (placeIn(pane)?.page || 1) + Number(step.dataset.step));
    if (event.target.closest(".thumbs")) strip(pane);
  });
  panes.addEventListener("change", (event) => {
    if (event.target.matches(".at-page")) goTo(event.target.closest(".pane"), Number(event.target.value) || 1);
  });

  // Scrolling together: page by page; sheets row by row. Where the kinds differ it waits, and says so.
  const sync = document.getElementById("sync"), says = document.getElementById("sync-says");
  let led = null;
  const follow = (pane, cells) => {
    tell(pane);
    if (!sync.checked || (led && led !== pane)) return;
    led = pane;
    const at = placeIn(pane), mine = pane.querySelector(".cells");
    let waits = 0;
    for (const other of sides.filter((one) => one !== pane && !one.hidden)) {
      const theirs = other.querySelector(".cells");
      if (cells && theirs) { theirs.scrollTop = mine.scrollTop; theirs.scrollLeft = mine.scrollLeft; }
      else if (!cells && at && placeIn(other)) goTo(other, at.page, at.part);
      else waits += 1;
    }
    says.textContent = waits ? "waits: the kinds differ" : "";
    requestAnimationFrame(() => requestAnimationFrame(() => { led = null; }));
  };
  sides.forEach((pane) => pane.addEventListener("scroll", (event) => {
    if (event.target === shown(pane)) follow(pane, false);
    else if (event.target.matches?.(".cells")) follow(pane, true);
  }, { capture: true, passive: true }));
  sync.addEventListener("change", () => { if (sync.checked) follow(sides.find((one) => !one.hidden), false); else says.textContent = ""; });

  // Size, order, one side alone, all of the window.
  const sizes = [50, 70, 85, 100, 125, 150, 200, 300], zoom = document.getElementById("zoom");
  let size = 100;
  const setSize = (to) => {
    const places = sides.map((pane) => placeIn(pane));
    size = to;
    panes.style.setProperty("--size", `${to}%`);
    zoom.textContent = `${to} %`;
    sides.forEach((pane, at) => { if (places[at]) goTo(pane, places[at].page, places[at].part); });
  };
  const larger = () => setSize(sizes.find((one) => one > size) || size), smaller = () => setSize(sizes.findLast((one) => one < size) || size);
  document.getElementById("larger").addEventListener("click", larger);
  document.getElementById("smaller").addEventListener("click", smaller);
  document.getElementById("swap")?.addEventListener("click", () => panes.classList.toggle("swapped"));
  const wide = document.getElementById("wide");
  wide.addEventListener("click", () => wide.setAttribute("aria-pressed", String(document.body.classList.toggle("without-verdict"))));
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
    const all = [...pane.querySelectorAll(".pin")], at = placeIn(pane);
    const note = (at && pages(pane)[at.page - 1]?.querySelector(".pin")) || all[0];
    if (!note) return;
    if (note.closest(".printed")) note.closest(".printed").open = true;
    note.open = true;
    note.querySelector("textarea").focus();
  };
  panes.addEventListener("click", (event) => {
    const button = event.target.closest(".quote");
    if (!button) return;
    const note = inForm(button.dataset.note).value.trim(), reason = form.elements["reason"];
    if (!note) return;
    reason.value = `${reason.value.trim()}\n${button.dataset.from}: ${note}`.trim();
    form.keepChanged();
  });

  const active = () => document.activeElement.closest(".pane") || sides.find((one) => !one.hidden && (!panes.classList.contains("alone") || one.classList.contains("chosen"))) || sides[0];
  const keys = {
    "[": () => allFiles(-1), "]": () => allFiles(1),
    j: () => goTo(active(), (placeIn(active())?.page || 0) + 1), k: () => goTo(active(), (placeIn(active())?.page || 2) - 1),
    g: () => active().querySelector(".at-page")?.select(), p: () => strip(active()),
    "+": larger, "=": larger, "-": smaller, 0: () => setSize(100),
    s: () => sync.click(), x: () => document.getElementById("swap")?.click(), f: () => alone(active()), w: () => wide.click(),
    n: () => noteInView(active()), "/": () => seek.elements["q"].select(),
    Escape: () => { hits.hidden = true; },
  };
  window.guildhallViewer = {
    key: (key) => {
      if (/^[1-9]$/.test(key) && sides[key - 1]) {
        if (picks[key - 1] && !picks[key - 1].checked) picks[key - 1].click();
        shown(sides[key - 1]).focus();
        return true;
      }
      const act = keys[key];
      if (act) act();
      return Boolean(act);
    },
  };
})();
