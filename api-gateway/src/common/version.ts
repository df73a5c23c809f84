/** Version of the API (spec 9): its major number is that of the path. */
export const API_VERSION = '1.0.0'
