/** The part of the page that the picture shows. */
export const regionOptions = {}

export const regionDefaults = {}
