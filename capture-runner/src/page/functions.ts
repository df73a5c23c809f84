// The functions that run in pages: their names, parameters and results. All values must survive JSON. The code is in capture-runner/page, a TypeScript
// project of its own, because only it has the types of the DOM. Its functions take their types from here.

import type { FormKind } from '@tintype/crds/kinds/comparison'

/** An area in CSS pixels. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** A position in CSS pixels of the window. */
export interface Point {
  x: number
  y: number
}

/** Page data that selects hiding rules. */
export interface PageFacts {
  url: string
  ids: string[]
  classes: string[]
  hrefs: string[]
}

export type Presence = 'there' | 'absent' | HideReason

/** Why a match is not shown: a closed `<details>`, a closed dialog or popover, `content-visibility: hidden`, or any other style. */
export type HideReason = 'details' | 'dialog' | 'skipped' | 'hidden'

/** Condition on the matching elements. */
export interface Wanted {
  /** Default: they must be visible. */
  isVisible?: boolean
  /** Number of matches. Default: 1. */
  count?: number
}

/** The elements to capture. */
export interface ElementQuery {
  selector: string
  /** All matches; otherwise the first. */
  all: boolean
}

/** The area of an element in CSS pixels of the page. */
export interface ElementRegion {
  /** The part that boxes around the element do not hide; null if they hide all of it. */
  painted: Box | null
  /** Null for an element that paints nothing. */
  own: Box | null
  /** Also what it shows only after scrolling. */
  whole: Box | null
}

/** How far elements that are fixed to the window move, in CSS pixels. Those of its bottom move down, others up. */
export interface BarMove {
  up: number
  down: number
  /** What holds these elements stays. */
  kept?: ElementQuery | undefined
}

/** Page size after scrolling, in CSS pixels. */
export interface Extent {
  scrollHeight: number
  windowHeight: number
}

/** The part to unfold: the one that fills the window of a page that does not scroll, the largest one of any page, or a chosen one. */
export type ScrollContainer = 'filling' | 'largest' | { selector: string }

/**
 * Why a full page does not show all of a part:
 * - large parts that scroll instead of the page: a list that draws only the rows in view, an editor, a dialog, one of several panes, a frame of another
 *   origin, or one that clips text that scripts may move
 * - `locked`, `hiding`: the page, or a part that fills the window, hides its content; in a locked one, no reader can scroll to it
 * - `panel`, `panel-rows`: a smaller part with a scroll bar of its own, which may draw only the rows in view
 * - `blurred`, `blurring`: it is shown, but cannot be read; or it makes what lies below it so
 */
export type FoldReason = LargeReason | 'locked' | 'hiding' | 'panel' | 'panel-rows' | 'blurred' | 'blurring'
export type LargeReason = 'rows' | 'editor' | 'dialog' | 'panes' | 'frame' | 'clipped' | 'other'

/** A part of the page that a full page does not show whole. */
export interface FoldedPart {
  /** Its element, such as `main#content`. */
  part: string
  reason: FoldReason
  /** Size in CSS pixels. */
  width: number
  height: number
  /** Height of its content. */
  whole: number
  /** What is open above a locked page, such as `div#dialog`. */
  cover?: string
}

/** What an action of the client changed, and the page has undone. */
export interface LostEffects {
  action: string
  isWhole: boolean
  /** It cannot have ended by itself. */
  isCertain: boolean
  /** Each part of it was there again at some time since it was found lost. */
  hasReturned: boolean
  /** CSS selectors. */
  elements: string[]
}

/** A part of the page that scrolls sideways. */
export interface WiderPart {
  /** Its element, such as `div.board`. */
  part: string
  /** What it shows of its content, and all of it, in CSS pixels. */
  width: number
  whole: number
}

/** The window of a document and the height of its content, in CSS pixels. */
export interface WindowExtent {
  width: number
  height: number
  scrollHeight: number
}

/** The parts of `unfold`. */
export interface UnfoldParts {
  /** Undo a lock of the page first. */
  unlocks: boolean
  /** Absent: nothing is unfolded. */
  container?: ScrollContainer | undefined
  /** Keep the height of elements that are as tall as the window. */
  pins: boolean
  /** Switch off lazy loading. */
  eager: boolean
  /** The part stays as wide as it is. A sheet of paper has another width. */
  keepsWidth: boolean
}

/** Activity that can be seen in the page. */
export interface VisibleMotion {
  /** The DOM has changed since the last call. */
  hasChanges: boolean
  /** The page shows more: elements or text were added, or an element changed for the first time. */
  hasGrown: boolean
  /** Animations and transitions, of SVG too, that end within the remaining time. */
  animations: number
  /** Animations that never end. */
  endless: number
  canvases: number
  /** `<marquee>` elements. Their animations are in shadow roots of the browser. */
  marquees: number
  /** The page has SVG images, whose animations are invisible to it. */
  hasDrawnImages: boolean
}

/** An area of the window; all values from 0 to 1. */
export interface WindowShare {
  left: number
  top: number
  right: number
  bottom: number
}

/** Rules about what the page shows. */
export interface ContentRules {
  refusedWords: readonly string[]
  neededWords: readonly string[]
  refusedSelectors: readonly string[]
}

export interface BrokenRule {
  rule: 'contains' | 'missing' | 'selector'
  value: string
}

/** The document as a file. */
export interface SavedHtml {
  html: string
  /** Number of visible elements whose content cannot be read, by their names. */
  lost: Record<string, number>
}

/** Facts of the captured page. */
export interface DocumentFacts {
  hasBody: boolean
  title: string
  url: string
  status: number
  isChallenged: boolean
  forms: FormKind[]
}

/** Notes that are read from the page's document. */
export type DocumentNote = 'openGraph' | 'icon' | 'timings' | 'links'

export interface DocumentNotes {
  openGraph?: Record<string, string>
  icon?: string
  timings?: Record<string, number>
  links?: string[]
}

/** Lengths beyond which a note is left out or cut. */
export interface NoteLimits {
  addressLength: number
}

/** Limits of {@link PageLinks}: their number, and the lengths of a URL and a text. */
export interface LinkLimits {
  links: number
  url: number
  text: number
}

export interface PageLink {
  url: string
  /** Empty: the link has no text and no label. */
  text: string
  /** Words of its `rel` attribute. */
  rel: string[]
  /** The page shows it. */
  isVisible: boolean
}

export interface PageLinks {
  links: PageLink[]
  /** Number of links that the limits leave out. */
  dropped: number
}

export interface PageMarkdown {
  markdown: string
  /** False: it is of the whole page. */
  isArticle: boolean
  isCut: boolean
}

export type SelectorFault = 'invalid' | 'open'

/** Parameters of the PDF viewer. */
export interface PdfRequest {
  /** Base path of the PDF.js files. */
  base: string
  /** Maximum size of the PDF. */
  maxBytes: number
  /** Maximum height to draw, in CSS pixels. The first page is always drawn. */
  maxHeight: number
  /** Maximum number of device pixels to draw. The first page is always drawn, at a lower resolution if needed. */
  maxPixels: number
}

/** Result of the PDF viewer. */
export type PdfOutcome =
  | { pages: number; shown: number; problem?: undefined }
  | { problem: 'too large' | 'gone' | 'encrypted' | 'damaged' | 'not drawn' }

/** The part of a page that scrolls. */
export interface ScrollerExtent {
  /** Largest scroll position, in CSS pixels. */
  end: number
  windowHeight: number
}

/** Functions with libraries. Their sources are in a module that is loaded when one of them is called. */
export type LargePageFunctionName = 'readMarkdown'

/** Every page function. A closed shadow root is an object of the page, so it has no type here. */
export interface PageFunctions {
  // blocking
  readPageFacts: (maxNames: number) => PageFacts
  /** Number of elements, texts and comments in all trees that are known. A search of DevTools for an empty text has as many results. */
  countSearchable: () => number
  /**
   * Brings the animations in these roots of `<marquee>` elements to rest: with the content in the middle, or where it slides to. Returns false if some have
   * none.
   */
  restInMarquees: (...roots: never[]) => boolean
  /** Closed roots that all later functions search. */
  rememberClosedRoots: (...closedRoots: never[]) => void
  /** Hides elements that look like a banner or an overlay, and returns their number. */
  hideBanners: (onlyConsent: boolean) => number
  /** Clicks the matching button of a consent banner; returns false if there is none. */
  clickBannerButton: (isAccepting: boolean) => boolean
  /** Hides the broken images and empty frames of these addresses. */
  collapseBlocked: (addresses: readonly string[]) => void
  countElements: () => number

  // elements
  findPresence: (selector: string, wanted: Wanted) => Presence
  /** Scrolls the first visible match into the window if needed, and returns its middle; null if there is none. */
  showMiddle: (selector: string) => Point | null
  /** The same for the next visible match that was not returned since the first; null if there is none. */
  showNextMiddle: (selector: string, isFirst: boolean) => Point | null
  /** Scrolls the first visible match to the middle of the window. */
  scrollToMiddle: (selector: string) => void
  /** Scrolls the first visible match to the top of the window, and then further. */
  scrollToTop: (selector: string, adjustTop: number) => void
  scrollToPosition: (x: number, y: number) => void
  /** Begins to note what an action of the client changes. Scrolls of the page and their effects do not count. */
  noteEffects: () => void
  /** Milliseconds since the last change by the action; 0 while an animation runs. */
  restOfAction: () => number
  /** Ends the notes, and marks effects that a scroll or a new size of the window undoes from now on. */
  keepEffects: (action: string) => void
  /** Before the window gets another size: forgets effects that have ended by themselves. */
  forgetEndedEffects: () => void
  /** The actions with effects that are undone so and have not come back. `isWhole`: all effects of the action. */
  findLostEffects: () => LostEffects[]
  /** Returns the focus to the element that has lost it. */
  restoreFocus: () => void
  /** The first visible match and all that contain it. */
  findPointed: (selector: string) => object[]
  /** Where the middle of the first visible match is. */
  placeOfPointed: (selector: string) => 'hovered' | 'inside' | 'outside' | 'absent'
  /** Areas of the visible matches. */
  findRegions: (query: ElementQuery) => ElementRegion[]
  /** Makes everything transparent that neither contains the elements nor belongs to them. */
  isolateElements: (query: ElementQuery) => void
  /** For each selector, the boxes of its matches in CSS pixels of the page. */
  findIgnoredBoxes: (selectors: readonly string[]) => Box[][]

  // full page
  /** Scrolls instantly. @param isEager makes lazy images and frames load at once */
  scrollWindow: (top: number, isEager: boolean) => Extent
  /**
   * Expands a scrolling part to its full height, and pins elements that are as tall as the window. May be called again for what comes later. `grown`: the
   * part is taller than at the last call. `closed`: it may be in a closed root that is not known.
   */
  unfold: (parts: UnfoldParts) => 'found' | 'grown' | 'absent' | 'closed' | 'skipped'
  /** Undoes the lock of a page whose dialog is not open any more. */
  unlock: () => void
  /** What a full page does not show whole. Parts that scroll come last, the one that hides most first. */
  findFolded: () => FoldedPart[]
  /** Its height includes what the parts of the document hide. */
  readExtent: () => WindowExtent
  /** Moves elements that are fixed to the window to the ends of the page. Elements that stick to it return to their place in the page. */
  moveBars: (move: BarMove) => void
  /** True if the window cannot be scrolled sideways, because the page hides what is wider than it. */
  hidesSides: () => boolean
  /** Distance from the left end of the page to a window that is not scrolled. Above 0 for a page that is read from the right. */
  readStart: () => number
  /** The large part that scrolls sideways farthest. */
  findWiderPart: () => WiderPart | null
  /** Hides fixed and sticky elements. @param kept those that hold these elements stay */
  hideFixed: (kept?: ElementQuery) => void
  /**
   * Records the height of each element, makes skipped content visible, and returns the page's height. Again in a taller window: does the same for what
   * has arrived since.
   */
  prepareReveal: (maxElements: number) => number
  /** In the tall window: elements that grew with the window get their old height back. Returns where the content ends. */
  pinHeights: () => number
  /** Unpins all elements, or those that may have grown with new content. */
  unpinHeights: (isAll: boolean) => void
  /** Stops animations that follow the scroll in the state that their elements have in the middle of the window. */
  freezeScrollAnimations: (windowHeight: number) => void
  /** Records how far scripts have moved elements at the current scroll position. */
  noteShifts: () => void
  /** Moves elements that follow the scroll to where they are when their container is in the middle of the window. */
  placeShifted: () => void
  /** True if content is transparent in the upper part of the window. */
  hidesTop: () => boolean
  /** Moves the page down, as far as it flows; 0 restores it. */
  shiftDown: (pixels: number) => void
  /** Records the state of links to sections of the page. */
  noteSectionLinks: () => void
  /** Restores the recorded state. */
  restoreSectionLinks: () => void

  // waiting
  /** Number of changes of the DOM since the last call. */
  countChanges: () => number
  /** Advances finite animations. @param left remaining page time: only animations that end within it count */
  advanceAnimations: (milliseconds: number, left: number) => VisibleMotion
  /** Requests a frame, and resolves with it. */
  nextFrame: () => Promise<void>
  /** Resolves when all idle callbacks that were requested before have been called. */
  whenIdle: () => Promise<void>
  /** Whether the text of a script in the document or a frame of its process matches a regular expression. */
  hasInlineScript: (pattern: string) => boolean
  /** Replaces media queries for `scripting` by their results, and hides `<noscript>`, before the page's scripts are stopped. */
  keepScriptingRules: () => void
  /** Areas of infinite animations, images that may be animated, and videos. */
  findMovingAreas: () => WindowShare[]
  /** Areas of the matches of selectors. */
  findAreas: (selectors: readonly string[]) => WindowShare[]
  /** CSS selectors of the smallest elements that contain these areas; null for an area that only the whole page contains. */
  nameElements: (areas: readonly WindowShare[], tolerance: number) => (string | null)[]
  /** Number of fonts and images above this height that are still loading. Forces a layout. */
  countLoading: (height: number) => number
  /** The URLs that an element above this height shows: as an image, a background, a mask, a poster, or in a pseudo-element. */
  findShownImages: (urls: readonly string[], height: number) => string[]
  /** Stops endless animations, of SVG too, at this time since they were started, or soon after it if they hide what they animate then. */
  restAnimations: (milliseconds: number) => void
  /** Finite animations jump to their end, infinite ones to their first frame, also those of drawings. Returns true if there are `<marquee>` elements, which it cannot stop. */
  endAnimations: () => boolean
  rewindMedia: () => void
  isSeeking: () => boolean

  // navigation
  readUrl: () => string
  /**
   * Opens the URL of a new tab in place of the page, as the link with this URL would. `posted`: a form sends data to it. `foreign`: no link or form leads to
   * it, and it is of another site.
   */
  openHere: (url: string, isSameSite: boolean) => 'opened' | 'posted' | 'foreign'
  /** The first rule that the page violates; null if there is none. @param hasOwnCanvas pages that set no background do not get a white one */
  findBrokenRule: (rules: ContentRules, hasOwnCanvas?: boolean) => BrokenRule | null
  looksChallenged: () => boolean
  /** Replaces WebSocket by sockets that fail as if no server were listening. */
  refuseWebSockets: () => void
  removeSharedWorkers: () => void
  /** Makes each registration of a service worker end without one. */
  refuseServiceWorkers: () => void
  /** Starts the document's clock at this time, in milliseconds since 1970. It runs on from there. */
  startClock: (start: number) => void
  /**
   * Makes `outerWidth` and `outerHeight` those of a window that is larger than the screen by these borders, in CSS pixels; null: leaves them. Also moves the
   * clock on for a script that waits for it in a loop. Runs in pages and workers.
   */
  adjustGlobals: (borders: { width: number; height: number } | null) => void
  /** Writes entries to localStorage in documents of the origin, unless the page has set them. */
  writeStorage: (origin: string, entries: Readonly<Record<string, string>>) => void
  /** Draws the PDF of the page's own URL. */
  showPdf: (request: PdfRequest) => void
  readPdfOutcome: () => Promise<PdfOutcome>

  // injection
  /** Adds a style sheet to the document. */
  addSheet: (text: string) => void
  /** Covers the matches with boxes. Returns the number of boxes of each selector. */
  coverMatches: (mask: { selectors: readonly string[]; color: string }) => number[]
  /** Hides the matches and all that they contain. Returns the number of matches of each selector. */
  leaveOutMatches: (selectors: readonly string[]) => number[]
  /** Removes the content and the attributes of the matches. Returns the number of matches of each selector. */
  redactMatches: (selectors: readonly string[]) => number[]
  /** Hides the matches in the document and in its open shadow roots. */
  hideInShadow: (selectors: readonly string[]) => void
  /** Empties the fields for passwords, for files that the browser writes. */
  takePasswords: () => void
  returnPasswords: () => void
  findSelectorFault: (selectors: readonly { text: string; isRule: boolean }[]) => { index: number; fault: SelectorFault } | null
  hasNoRule: (sheet: string) => boolean
  /** Transparency of a color, 0 to 1; null for an invalid color. */
  readTransparency: (color: string) => number | null
  /** Names of the media features that the browser does not support. */
  findUnknownFeatures: (features: readonly (readonly [name: string, value: string])[]) => string[]
  /** What loads a resource in a print template; null if nothing does. */
  findLoader: (html: string) => string | null

  // output
  /** The document as HTML that shows the page without its scripts, with the values of visible fields and without passwords. */
  readHtml: () => SavedHtml
  /** Links of the page to other URLs, the first of each. Longer URLs are left out, longer texts are cut. */
  readLinks: (limits: LinkLimits) => PageLinks
  /** The article as Markdown, or all that the page shows. @param maxLength in UTF-16 units */
  readMarkdown: (isArticleWanted: boolean, maxLength: number) => PageMarkdown
  /** The visible text without the matches of some selectors. */
  readText: (hidden?: readonly string[], hasOwnCanvas?: boolean) => string
  readDocumentFacts: () => DocumentFacts
  readNotes: (wanted: readonly DocumentNote[], limits: NoteLimits) => DocumentNotes

  // video
  /** Mutes media when they start to play. */
  muteMedia: () => void
  /** True while a video with a sound track is playing. */
  hasPlayingSound: () => boolean
  /** Finds the part of the page that scrolls. */
  findScroller: () => ScrollerExtent
  scrollScroller: (top: number) => ScrollerExtent
}

/** Functions without libraries. */
export type PageFunctionName = Exclude<keyof PageFunctions, LargePageFunctionName>
