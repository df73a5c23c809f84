import type { PageFunctions } from '../../../src/page/functions.ts'
import { looksChallenged } from '../navigation/content.ts'
import { readVisibleText } from '../shared/text.ts'
import { navigationTiming } from '../shared/timing.ts'

export const readHtml: PageFunctions['readHtml'] = () => {
  const { doctype, documentElement } = document
  return (doctype ? `${new XMLSerializer().serializeToString(doctype)}\n` : '') + (documentElement?.outerHTML ?? '')
}

export const readText: PageFunctions['readText'] = () => readVisibleText()

export const readDocumentFacts: PageFunctions['readDocumentFacts'] = () => ({
  hasBody: document.body !== null,
  title: String(document.title),
  url: location.href,
  status: navigationTiming()?.responseStatus ?? 0,
  isChallenged: looksChallenged(),
})
