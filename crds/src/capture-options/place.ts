/** Where and when the page believes to be shown. */
export const placeOptions = {}

export const placeDefaults = {}
