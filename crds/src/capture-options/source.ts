/** What is captured when it is not an address: markup that the request itself holds. */
export const sourceOptions = {}

export const sourceDefaults = {}
