import type { ArtifactType } from '@tintype/crds/options/artifacts'
import { callInPage } from '../../page/call.ts'
import { buildHar } from '../../requests/har.ts'
import { abortable } from '../../runtime/race.ts'
import { VERSION } from '../../runtime/version.ts'
import type { Step, Work } from '../step.ts'
import { whileTimePasses } from '../waiting/pass-time.ts'

/** Files of the page. Steps of their own create the others. */
type Saved = Exclude<ArtifactType, 'thumbnail' | 'poster' | 'diff'>

const isSaved = (type: ArtifactType): type is Saved => type !== 'thumbnail' && type !== 'poster' && type !== 'diff'

const toJson = (value: unknown): string => JSON.stringify(value, null, 1)

/** Creates each kind of file. */
const MAKERS: Readonly<Record<Saved, (work: Work) => Promise<string> | string>> = {
  html: (work) => callInPage(work, 'readHtml'),
  text: (work) => callInPage(work, 'readText'),
  mhtml: async (work) => {
    const saved = abortable(work.tab.session.send('Page.captureSnapshot', { format: 'mhtml' }), work.signal)
    return (await whileTimePasses(work, saved)).data
  },
  har: ({ plan, findings }) => {
    const hidden = Object.keys(plan.signIn?.headers ?? {})
    return toJson(buildHar(findings.journal?.requests.values() ?? [], { version: VERSION, hidden }))
  },
  console: ({ findings }) => toJson(findings.journal?.console ?? []),
  accessibility_tree: async ({ tab, signal }) => {
    await abortable(tab.session.send('Accessibility.enable'), signal)
    const { nodes } = await abortable(tab.session.send('Accessibility.getFullAXTree'), signal)
    return toJson(nodes.filter(({ ignored }) => !ignored))
  },
}

/** Saves the additional files of the page as it is captured. */
export const files: Step = {
  name: 'files',
  isWanted: (plan) => [...plan.files].some(isSaved),
  run: async (work) => {
    for (const type of work.plan.files) {
      if (isSaved(type)) work.findings.files.set(type, Buffer.from(await MAKERS[type](work)))
    }
  },
}
