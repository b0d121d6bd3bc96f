// Tables sort by a click on a heading, or with Enter on it, and show the rows that have all words of the filter.
// The library is DataTables; nothing of a cell ever becomes markup: it takes the cells as they stand in the page.
for (const table of document.querySelectorAll("table.sorted")) {
  const caption = table.caption.textContent;
  const scrolling = table.closest(".scroll");
  new DataTable(table, {
    paging: false,
    order: [],
    autoWidth: false,
    columnDefs: [{ targets: "_all", orderSequence: ["desc", "asc", ""] }],
    layout: {
      topStart: table.tBodies[0].rows.length > 10 ? "search" : null,
      topEnd: table.tBodies[0].rows.length > 10 ? "info" : null,
      bottomStart: null,
      bottomEnd: null,
    },
    language: {
      search: "Filter rows",
      info: "_TOTAL_ rows",
      infoEmpty: "0 rows",
      infoFiltered: "of _MAX_",
      zeroRecords: "No row has these words",
    },
  });
  const container = table.closest(".dt-container");
  scrolling.replaceWith(container); // the filter stays where it is while the table scrolls
  table.before(scrolling);
  scrolling.append(table);
  const box = container.querySelector(".dt-search input");
  if (box) box.setAttribute("aria-label", `Filter rows of the table: ${caption}`);
}
// What is wider than its place says that it scrolls.
const mark = () => {
  for (const place of document.querySelectorAll(".scroll"))
    place.parentElement.classList.toggle("wider", place.scrollWidth > place.clientWidth + 1);
};
mark();
addEventListener("resize", mark);
document.documentElement.dataset.ready = "yes";
