/** Files that are stored beside the picture. */
export const extraFilesOptions = {}

export const extraFilesDefaults = {}
