/** The element that scrolls with the window. */
export const scrollingElement = (): Element => document.scrollingElement ?? document.documentElement
