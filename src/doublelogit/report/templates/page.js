"use strict";
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const key = (row) => row.cells[i].dataset.value ?? row.cells[i].textContent.trim();
      const numeric = head.classList.contains("n");
      const order = (a, b) => (numeric ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b)));
      const rows = [...body.rows].sort((a, b) => (down ? order(b, a) : order(a, b)));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...rows);
    });
  });
}
const list = document.getElementById("list");
if (list) {
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of list.tBodies[0].rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${list.tBodies[0].rows.length} rows`;
  };
  search.addEventListener("input", filter);
  filter();
  // a spreadsheet takes a cell that begins with = + - @ for a formula: a quote makes it text
  const cell = (text) => {
    const safe = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  document.getElementById("export").addEventListener("click", () => {
    const rows = [list.tHead.rows[0], ...[...list.tBodies[0].rows].filter((row) => !row.hidden)];
    const lines = rows.map((row) =>
      [...row.cells].map((c) => cell(c.dataset.value ?? c.textContent.trim().replace(/\s+/g, " "))).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
    link.download = "hidden-positives.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}
