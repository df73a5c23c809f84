/** Version of this program. The images and the chart have the same. */
export const VERSION = '0.1.0'
