// Sort a table by a click on a column's head, and filter its rows.
"use strict";
function value(row, i) {
  const cell = row.cells[i], raw = cell.dataset.v;
  if (raw !== undefined) return raw === "" ? null : Number(raw);
  return cell.textContent.trim() || null;
}
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].map(row => [value(row, i), row]);
    // what is unknown stays at the end, whichever way
    rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : up ? compare(a, b) : compare(b, a));
    body.append(...rows.map(([, row]) => row));
  }));
}
for (const input of document.querySelectorAll("input.filter")) {
  const body = document.getElementById(input.dataset.table).tBodies[0];
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const row of body.rows)
      row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  });
}
