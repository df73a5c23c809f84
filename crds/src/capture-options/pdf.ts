/** Options of the format pdf. */
export const pdfOptions = {}

export const pdfDefaults = {}
