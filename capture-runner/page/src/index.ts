// Every page function. The bundle has each one separately, with what it needs: see bundle.ts.

export { clickBannerButton, hideBanners } from './blocking/banners.ts'
export { countSearchable, rememberClosedRoots } from './blocking/closed-roots.ts'
export { collapseBlocked } from './blocking/hide.ts'
export { countElements, readPageFacts } from './blocking/page-facts.ts'
export {
  findLostEffects,
  findPointed,
  forgetEndedEffects,
  keepEffects,
  noteEffects,
  placeOfPointed,
  restOfAction,
  restoreFocus,
} from './elements/effects.ts'
export { scrollToMiddle, scrollToPosition, scrollToTop, showMiddle, showNextMiddle } from './elements/place.ts'
export { findPresence } from './elements/presence.ts'
export { findIgnoredBoxes, findRegions, isolateElements } from './elements/regions.ts'
export { moveBars } from './full-page/bars.ts'
export { hideFixed } from './full-page/fixed.ts'
export { findFolded } from './full-page/folded.ts'
export { hidesTop, shiftDown } from './full-page/hidden-top.ts'
export { noteShifts, placeShifted } from './full-page/parallax.ts'
export { pinHeights, prepareReveal, unpinHeights } from './full-page/reveal.ts'
export { scrollWindow } from './full-page/scroll.ts'
export { freezeScrollAnimations } from './full-page/scroll-animations.ts'
export { noteSectionLinks, restoreSectionLinks } from './full-page/section-links.ts'
export { readExtent, unfold, unlock } from './full-page/unfold.ts'
export { findWiderPart, hidesSides, readStart } from './full-page/width.ts'
export { addSheet, hideInShadow } from './injection/hide.ts'
export { coverMatches, leaveOutMatches } from './injection/mask.ts'
export { returnPasswords, takePasswords } from './injection/passwords.ts'
export { redactMatches } from './injection/redact.ts'
export { findLoader, findSelectorFault, findUnknownFeatures, hasNoRule, readTransparency } from './injection/syntax.ts'
export { adjustGlobals, refuseWebSockets, removeSharedWorkers, writeStorage } from './navigation/before-scripts.ts'
export { startClock } from './navigation/clock.ts'
export { findBrokenRule, looksChallenged } from './navigation/content.ts'
export { openHere } from './navigation/new-tab.ts'
export { readPdfOutcome, showPdf } from './navigation/pdf.ts'
export { readUrl } from './navigation/url.ts'
export { readDocumentFacts, readText } from './output/document.ts'
export { readNotes } from './output/notes.ts'
export { readHtml } from './output/saved-html.ts'
export { hasPlayingSound, muteMedia } from './video/media.ts'
export { findScroller, scrollScroller } from './video/scroller.ts'
export { countChanges } from './waiting/changes.ts'
export { nameElements } from './waiting/element-names.ts'
export { restAnimations } from './waiting/endless.ts'
export { nextFrame } from './waiting/frames.ts'
export { whenIdle } from './waiting/idle.ts'
export { findShownImages } from './waiting/images.ts'
export { countLoading } from './waiting/loading.ts'
export { restInMarquees } from './waiting/marquees.ts'
export { advanceAnimations } from './waiting/motion.ts'
export { findAreas, findMovingAreas } from './waiting/moving-areas.ts'
export { keepScriptingRules } from './waiting/scripting-rules.ts'
export { hasInlineScript } from './waiting/scripts.ts'
export { endAnimations, isSeeking, rewindMedia } from './waiting/still.ts'
