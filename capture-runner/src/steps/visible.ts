/** The visible matches of a selector, in the order of the document, as an expression. */
export const visible = (selector: string): string => `[...document.querySelectorAll(${JSON.stringify(selector)})]
  .filter((element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible')`
