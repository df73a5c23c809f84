import t from 'tap'
import type { PageFunctionName, PageFunctions } from '../../../../capture-runner/src/page/functions.ts'
import { openLab } from './lab.ts'
import { FRAME, oddDocuments } from './odd-documents.ts'

const open = await openLab(t)

/** Calls that run in documents of any kind, in the order of a capture. */
const CALLS: { [Name in PageFunctionName]?: Parameters<PageFunctions[Name]> } = {
  readUrl: [],
  countElements: [],
  readPageFacts: [100],
  countSearchable: [],
  collapseBlocked: [['http://page.test/a.png']],
  hideBanners: [false],
  clickBannerButton: [true],
  unlock: [],
  hideInShadow: [['.absent']],
  unfold: [{ container: 'largest', unlocks: true, pins: true, eager: true, keepsWidth: true }],
  noteSectionLinks: [],
  scrollWindow: [100, true],
  findPresence: ['.target, #target', {}],
  showNextMiddle: ['.target, #target', true],
  scrollToMiddle: ['#target'],
  scrollToTop: ['#target', 0],
  scrollToPosition: [0, 0],
  countLoading: [5_000],
  countChanges: [],
  prepareReveal: [20_000],
  pinHeights: [],
  advanceAnimations: [100, 1_000],
  findMovingAreas: [],
  hidesTop: [],
  shiftDown: [100],
  freezeScrollAnimations: [600],
  restoreSectionLinks: [],
  unpinHeights: [true],
  findBrokenRule: [{ refusedWords: ['absent'], neededWords: [], refusedSelectors: ['.absent'] }],
  endAnimations: [],
  rewindMedia: [],
  isSeeking: [],
  findFolded: [],
  readExtent: [],
  moveBars: [{ up: 100, down: 100 }],
  findWiderPart: [],
  readStart: [],
  hidesSides: [],
  findShownImages: [['http://page.test/a.png'], 600],
  keepScriptingRules: [],
  noteShifts: [],
  placeShifted: [],
  hasInlineScript: ['indexedDB'],
  readDocumentFacts: [],
  readNotes: [['openGraph', 'icon', 'links', 'timings'], { addressLength: 2_048 }],
  readHtml: [],
  readText: [],
  hideFixed: [],
  findRegions: [{ selector: '.target, #target', all: true }],
  isolateElements: [{ selector: '.target, #target', all: true }],
  coverMatches: [{ selectors: ['.target, #target'], color: 'red' }],
  findIgnoredBoxes: [['.target, #target']],
  leaveOutMatches: [['.target, #target']],
  findScroller: [],
  scrollScroller: [100],
  hasPlayingSound: [],
}

for (const [name, document] of Object.entries(oddDocuments)) {
  t.test(`page functions work in ${name}`, async (t) => {
    const { call } = await open(document, { '/frame': FRAME })
    const failed: string[] = []
    for (const [name, values] of Object.entries(CALLS)) {
      await call(name as 'showMiddle', ...(values as [string])).catch((error: Error) =>
        failed.push(`${name}: ${error.message.split('\n')[0]}`),
      )
    }
    t.strictSame(failed, [])
  })
}
