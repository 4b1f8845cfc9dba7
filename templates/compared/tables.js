
"use strict";
// Every table of class sorts gets a button in each heading, and controls that choose rows. Dots of pictures whose row
// is hidden turn pale.
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0], headings = [...table.tHead.rows[0].cells], rows = [...body.rows];
  const valueOf = (row, at) => {
    const cell = row.cells[at], value = cell.dataset.v;
    return value === undefined ? cell.textContent.trim().toLowerCase() : value === "" ? null : Number(value);
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
  headings.forEach((heading, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down === 1 ? "ascending" : "descending");
      const order = rows.map((row, was) => ({ row, was, value: valueOf(row, at) }));
      order.sort((a, b) => {
        if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.was - b.was;
        return down * compare(a.value, b.value) || a.was - b.was;
      });
      body.append(...order.map((x) => x.row));
    });
  });

  const controls = document.createElement("div"), count = document.createElement("output");
  controls.className = "controls";
  const add = (text, control) => {
    const label = document.createElement("label");
    label.append(text + " ", control);
    controls.append(label);
    control.addEventListener("input", choose);
    return control;
  };
  const words = add("Rows with", document.createElement("input"));
  words.type = "search";
  const states = [...new Set(rows.map((row) => row.dataset.state).filter(Boolean))];
  const state = states.length < 2 ? null : add("Status", document.createElement("select"));
  if (state) state.append(new Option("all", ""), ...states.map((name) => new Option(name, name)));
  controls.append(count);
  table.closest(".scroll").before(controls);

  function choose() {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !asked.every((word) => text.includes(word)) || state && state.value && row.dataset.state !== state.value;
      shown += !row.hidden;
      if (row.id) {
        for (const spot of document.querySelectorAll(`.spot[data-row="${row.id}"]`)) spot.classList.toggle("off", row.hidden);
      }
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  }
  choose();
}
