/* The page of a report: sorts, picks and shows what was written out. It computes no figure. */
"use strict";
(() => {
  const picks = JSON.parse(document.getElementById("picks").textContent);
  const make = (name, facts = {}, ...inner) => {
    const made = Object.assign(document.createElement(name), facts);
    made.append(...inner);
    return made;
  };
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const command = (where) => {
    const [head, tail] = picks.query.split(" --baseline ");
    return `${head}${where.map((one) => ` --where ${quoted(one)}`).join("")} --baseline ${tail}`;
  };

  /* The first table: a level at a time, and two models side by side. */
  const standing = document.getElementById("standing");
  const asks = standing && standing.querySelector(".asks");
  const drawer = standing && standing.querySelector(".drawer");
  const told = standing && standing.querySelector(".told");
  const rows = standing ? [...standing.querySelectorAll("tbody tr")] : [];
  const kept = rows.map((row) => row.innerHTML);
  let level = "";
  const cells = () => (level ? picks.levels[level].cells : picks.all);
  const place = () => (level ? `${picks.levels[level].by}: ${picks.levels[level].word}` : "all tasks");

  const where = standing && standing.querySelector(".where");
  const show = (chosen) => {
    level = chosen;
    where.textContent = level ? ` \u00b7 ${place()} (exploratory)` : "";
    drawer.hidden = true;
    rows.forEach((row, at) => {
      row.innerHTML = kept[at];
      const name = picks.all[at][0];
      const cell = cells().find((one) => one[0] === name);
      row.hidden = !cell;
      if (!cell) return;
      if (level) {
        row.querySelectorAll(".places, .joined").forEach((one) => one.replaceChildren());
        const svg = row.querySelector(".plot");
        svg.querySelectorAll(".iv, .dot").forEach((one) => one.remove());
        const mark = (kind, look, facts) => {
          const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
          made.setAttribute("class", look);
          Object.entries(facts).forEach(([key, value]) => made.setAttribute(key, value));
          svg.append(made);
        };
        const [, low, middle, high, value, interval, record, tasks] = cell;
        if (low !== null) mark("line", "iv", { x1: `${low}%`, x2: `${high}%`, y1: "50%", y2: "50%" });
        if (middle !== null) mark("circle", low === null ? "dot none" : "dot", { cx: `${middle}%`, cy: "50%", r: 5.5 });
        row.querySelector(".rate b").textContent = value;
        row.querySelector(".rate small").textContent = interval;
        row.querySelector(".record").textContent = record;
        row.querySelector(".tasks").textContent = tasks;
      }
      const number = row.querySelector(".rate b");
      const button = make("button", { type: "button", className: "num", title: `${cell[5] || "no interval"}; ${cell[8]}` }, number.textContent);
      button.setAttribute("aria-expanded", "false");
      button.addEventListener("click", () => open(name, cell, button));
      number.replaceChildren(button);
    });
    compare();
  };

  const open = (name, cell, button) => {
    const shut = button.getAttribute("aria-expanded") === "true";
    standing.querySelectorAll("button.num").forEach((one) => one.setAttribute("aria-expanded", "false"));
    drawer.hidden = shut;
    if (shut) return;
    button.setAttribute("aria-expanded", "true");
    const [by, word] = level ? [level.slice(0, level.indexOf("=")), picks.levels[level].word] : ["", ""];
    const fact = picks.facts.indexOf(by);
    const mine = picks.works.filter((work) => work[0] === name && (!by || fact < 0 || work[fact + 2] === word));
    const list = make("ul");
    mine.forEach((work) => {
      const [won, tied, lost] = work.slice(-3);
      list.append(make("li", { title: `${won} won, ${tied} tied, ${lost} lost` }, `${work[1]}: ${won} · ${tied} · ${lost}`));
    });
    const asked = [`model=${name}`, ...(by ? [`${by}=${word}`] : [])];
    drawer.replaceChildren(
      make("h3", {}, `${name}, ${place()}: ${cell[4]}${cell[5] ? ` (${cell[5]})` : ""}`),
      make("p", {}, `Against the ${picks.baseline}: ${cell[6]} won, tied and lost. Rests on ${cell[8]}.`),
      make("p", { className: "small" }, mine.length ? "Won, tied and lost on each task:" : "The judgments behind it:"),
      list,
      make("p", { className: "small" }, "The judgments one by one, with their digests:"),
      make("code", { tabIndex: 0 }, command(asked)),
      make("p", { className: "small" }, "What graders wrote stays in the workspace: no agreement to be quoted is on record."),
    );
  };

  const choice = (label, options) => {
    const select = make("select", { id: `pick-${asks.children.length}` }, ...options);
    asks.append(make("div", {}, make("label", { htmlFor: select.id }, label), select));
    return select;
  };
  const models = () => picks.models.map((name) => make("option", { value: name }, name));
  let first, second;
  const compare = () => {
    if (!first) return;
    const [one, other] = [first.value, second.value];
    told.hidden = !one || !other;
    if (told.hidden) return;
    const found = picks.pairs.find((pair) => pair[0] === level && [pair[1], pair[2]].includes(one) && [pair[1], pair[2]].includes(other));
    if (one === other || !found) told.textContent = `${one} and ${other} are not compared in ${place()}.`;
    else {
      const [, left, right, verdict, value, interval, rests] = found;
      told.textContent = `${left} less ${right}, ${place()}: ${value} points (${interval}); ${verdict.startsWith("not ") ? "the two are not told apart" : `${left} is ${verdict}`}. ${level ? "Exploratory. " : ""}Rests on ${rests}.`;
    }
  };
  if (standing) {
    const names = Object.keys(picks.levels);
    if (names.length) {
      const groups = new Map();
      names.forEach((name) => {
        const { by, word } = picks.levels[name];
        if (!groups.has(by)) groups.set(by, make("optgroup", { label: by }));
        groups.get(by).append(make("option", { value: name }, word));
      });
      const picked = choice("Show", [make("option", { value: "" }, "all tasks"), ...groups.values()]);
      picked.addEventListener("change", () => show(picked.value));
    }
    if (picks.pairs.length) {
      first = choice("Compare", [make("option", { value: "" }, "a model"), ...models()]);
      second = choice("with", [make("option", { value: "" }, "another"), ...models()]);
      [first, second].forEach((one) => one.addEventListener("change", compare));
    }
    asks.hidden = !asks.children.length;
    show("");
  }

  /* One picture at a time where a chapter has several. */
  document.querySelectorAll("section.part").forEach((part) => {
    const figures = [...part.querySelectorAll("figure")];
    if (figures.length < 3) return;
    const select = make("select", { id: `picture-${part.getAttribute("aria-labelledby")}` }, ...figures.map((one, at) => make("option", { value: at }, one.getAttribute("aria-label"))));
    const box = make("div", { className: "asks" }, make("div", {}, make("label", { htmlFor: select.id }, "Picture"), select));
    figures[0].before(box);
    const pick = () => figures.forEach((one, at) => one.classList.toggle("aside", at !== Number(select.value)));
    select.addEventListener("change", pick);
    pick();
  });

  /* Tables sort by any column; a number of a traced row opens the command that gives its judgments. */
  const value = (cell) => {
    const words = cell.innerText.trim();
    const number = parseFloat(words.replace(/^about /, "").replaceAll(",", "").replace("−", "-"));
    return Number.isNaN(number) ? words : number;
  };
  const order = (one, other) => {
    if (typeof one === typeof other) return typeof one === "number" ? one - other : one.localeCompare(other);
    return typeof one === "number" ? -1 : 1;
  };
  document.querySelectorAll(".scroll table").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    if (body.rows.length < 2) return;
    heads.forEach((head, at) => {
      const button = make("button", { type: "button", className: "sort" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        table.querySelectorAll("tr.drawer").forEach((one) => one.remove());
        const down = head.ariaSort === "ascending";
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        head.ariaSort = down ? "descending" : "ascending";
        const sorted = [...body.rows].map((row) => [value(row.cells[at]), row]);
        sorted.sort((one, other) => (down ? order(other[0], one[0]) : order(one[0], other[0])));
        body.append(...sorted.map(([, row]) => row));
      });
    });
  });
  const traceable = new Set(["task", "model", "sample", "grader", "sector", "occupation", "file_type", "hours", "references", "specification", "condition", "effort"]);
  document.addEventListener("click", (event) => {
    const cell = event.target.closest("table.traced tbody td");
    if (!cell || cell.closest("tr.drawer")) return;
    const row = cell.parentElement;
    const shown = row.nextElementSibling && row.nextElementSibling.classList.contains("drawer");
    if (shown) return void row.nextElementSibling.remove();
    const heads = [...row.closest("table").tHead.rows[0].cells];
    const where = heads.flatMap((head, at) => (traceable.has(head.dataset.c) ? [`${head.dataset.c}=${row.cells[at].textContent}`] : []));
    const opened = make("td", { colSpan: heads.length }, make("p", { className: "small" }, "The judgments behind this row:"), make("code", { tabIndex: 0 }, command(where)));
    row.after(make("tr", { className: "drawer" }, opened));
  });
})();
