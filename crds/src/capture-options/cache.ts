/** Whether an earlier picture will do. */
export const cacheOptions = {}

export const cacheDefaults = {}
