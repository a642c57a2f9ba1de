// One key opens the search. It works without this file too.
"use strict";
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("textarea, input, select, dialog")) return;
  event.preventDefault();
  document.getElementById("find").select();
});
