/** Version of the API. Its major number is the one in the path. */
export const API_VERSION = '1.0.0'
