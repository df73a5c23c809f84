/** How the request for the page names its sender; what is secret of it is in private.ts. */
export const identityOptions = {}

export const identityDefaults = {}
