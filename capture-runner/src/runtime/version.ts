/** Version of this program. The images and the chart have the same. */
export const VERSION = '0.1.0'

/** Version of the rules by which page functions read the visible text. Raise it when they change, so that words of older captures are not compared. */
export const TEXT_VERSION = 4
