/** What the record tells of the page. */
export const metadataOptions = {}

export const metadataDefaults = {}
