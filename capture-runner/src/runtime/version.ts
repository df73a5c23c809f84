/** Version of this program: the images and the chart carry the same. */
export const VERSION = '0.1.0'
