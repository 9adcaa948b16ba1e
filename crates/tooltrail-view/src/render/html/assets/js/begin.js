// Starts the page once every part is defined: prepares the rows it came with, and goes to the row that the address names.
ready(rows);
if (location.hash) followHash();
begun();
// Browser tests wait for this attribute.
root.dataset.ready = 'true';
