// Search results: pages for developers (decisions, architecture) rank last.
// Sphinx calls Scorer.score for every result [page, title, anchor, description, score, file].
var Scorer = {
  score: ([page, , , , score]) => (page.startsWith("decisions/") || page === "architecture" ? score - 1000 : score),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
