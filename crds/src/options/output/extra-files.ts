import { z } from 'zod'

const file = (what: string) => z.boolean().describe(`Stores ${what} beside the capture. Default: false.`)

/** Files that are stored beside the capture; the record's artifacts list them. */
export const extraFilesOptions = {
  saveHtml: file('the page’s final HTML'),
  saveText: file('the page’s visible text'),
  saveMhtml: file('the page with its images and styles as one MHTML file'),
  saveHar: file('the page’s requests as a HAR file, without cookies, credentials and bodies'),
  saveConsole: file('console messages and uncaught errors, as JSON'),
  saveAccessibilityTree: file('the accessibility tree, as JSON'),
}

export const extraFilesDefaults = {
  saveHtml: false,
  saveText: false,
  saveMhtml: false,
  saveHar: false,
  saveConsole: false,
  saveAccessibilityTree: false,
} as const
