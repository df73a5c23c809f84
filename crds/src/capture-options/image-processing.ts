/** What is done to the picture after it was taken. */
export const imageProcessingOptions = {}

export const imageProcessingDefaults = {}
