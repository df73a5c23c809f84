/** The way to the page; credentials of a proxy are in private.ts. */
export const networkOptions = {}

export const networkDefaults = {}
