/** The text that the page shows. */
// biome-ignore lint/performance/useDomNodeTextContent: only innerText leaves out what is not shown
export const readVisibleText = (): string => document.body?.innerText ?? ''
