// Everything is there: the rows that came with the page, and the one that the address names.
ready(rows);
if (location.hash) followHash();
begun();
// For tests: what a browser driver can wait for.
root.dataset.ready = 'true';
