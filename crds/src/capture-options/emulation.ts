/** The device and the media that the page is laid out for, beyond its window. */
export const emulationOptions = {}

export const emulationDefaults = {}
