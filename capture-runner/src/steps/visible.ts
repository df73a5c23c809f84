/** The visible matches of a selector, in the order of the document, as an expression. @throws in the page when `selector` is none */
export const visible = (selector: string): string => `[...document.querySelectorAll(${JSON.stringify(selector)})]
  .filter((element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible')`
