import type { ArtifactType } from '@tintype/crds/options/artifacts'
import { callInPage } from '../../page/call.ts'
import { hasOwnCanvas } from '../../plan/picture.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { buildHar } from '../../requests/journal.ts'
import { abortable } from '../../runtime/race.ts'
import { VERSION } from '../../runtime/version.ts'
import type { Step, Work } from '../step.ts'
import { whileTimePasses } from '../waiting/page-time.ts'
import { callInAllFrames, includeClosedRoots } from '../whole-page.ts'
import { makeLinks, makeMarkdown } from './page-contents.ts'

/** Files of the page. Steps of their own create the others. */
type Saved = Exclude<ArtifactType, Made>

const MADE = ['thumbnail', 'preview', 'poster', 'diff'] as const
type Made = (typeof MADE)[number]

const isSaved = (type: ArtifactType): type is Saved => !MADE.some((made) => made === type)

const toJson = (value: unknown): string => JSON.stringify(value, null, 1)

/** Makes a file while the fields for passwords are empty, because the browser would write them into it. */
async function withoutPasswords<Made>(work: Work, make: () => Promise<Made>): Promise<Made> {
  try {
    await callInAllFrames(work, 'takePasswords')
    return await make()
  } finally {
    await callInAllFrames(work, 'returnPasswords')
  }
}

/** Creates each kind of file; undefined leaves it out. */
const MAKERS: Readonly<Record<Saved, (work: Work) => Promise<string | undefined> | string>> = {
  markdown: makeMarkdown,
  links: makeLinks,
  html: async (work) => {
    await includeClosedRoots(work)
    const { html, lost } = await callInPage(work, 'readHtml')
    const parts = Object.entries(lost).map(([name, count]) => `${count} ${name}`)
    if (parts.length > 0)
      work.findings.warnings.push(`the saved HTML lacks what scripts put into elements of the page: ${parts.join(', ')}`)
    return html
  },
  text: async (work) => {
    await includeClosedRoots(work)
    const { options, comparison, picture } = work.plan
    return callInPage(work, 'readText', [...(options.maskSelectors ?? []), ...comparison.ignoredSelectors], hasOwnCanvas(picture))
  },
  mhtml: async (work) => {
    const save = () => whileTimePasses(work, abortable(work.tab.session.send('Page.captureSnapshot', { format: 'mhtml' }), work.signal))
    return (await withoutPasswords(work, save)).data
  },
  har: ({ plan, findings }) => {
    const hidden = Object.keys(plan.signIn?.headers ?? {})
    return toJson(buildHar(findings.journal?.requests.values() ?? [], { version: VERSION, hidden }))
  },
  console: ({ findings }) => toJson(findings.journal?.console ?? []),
  accessibility_tree: async (work) => {
    const { session } = work.tab
    await abortable(session.send('Accessibility.enable'), work.signal)
    const { nodes } = await withoutPasswords(work, () => abortable(session.send('Accessibility.getFullAXTree'), work.signal))
    return toJson(nodes.filter(({ ignored }) => !ignored))
  },
}

/** Files that may contain what is masked, as their descriptions say. MHTML has the responses of the page. */
const UNMASKED: ReadonlySet<Saved> = new Set(['mhtml', 'har', 'console'])

const typesOf = (plan: CapturePlan): Saved[] => [...plan.files].filter(isSaved)

async function save(work: Work, types: readonly Saved[]): Promise<void> {
  for (const type of types) {
    const text = await MAKERS[type](work)
    if (text !== undefined) work.findings.files.set(type, Buffer.from(text))
  }
}

/** Files that take long to make on some pages. They must not change what the picture shows, or delay it. */
const LATE: ReadonlySet<Saved> = new Set(['markdown', 'links'])

const isBeforePicture = (plan: CapturePlan) => (type: Saved) =>
  !LATE.has(type) && (plan.options.maskSelectors === undefined || UNMASKED.has(type))
const isAfterPicture = (plan: CapturePlan) => (type: Saved) => !isBeforePicture(plan)(type)

/** Saves the additional files of the page as it is captured. */
export const files: Step = {
  name: 'files',
  isWanted: (plan) => typesOf(plan).some(isBeforePicture(plan)),
  onFailure: 'repeat',
  run: (work) => save(work, typesOf(work.plan).filter(isBeforePicture(work.plan))),
}

/** True if the page is needed after its picture was taken. */
export const hasLateFiles = (plan: CapturePlan): boolean => typesOf(plan).some(isAfterPicture(plan))

/** Saves the files for which the page can wait until its picture is taken, and those from which the masked elements have been removed. */
export const lateFiles: Step = {
  name: 'lateFiles',
  isWanted: hasLateFiles,
  run: (work) => save(work, typesOf(work.plan).filter(isAfterPicture(work.plan))),
}
