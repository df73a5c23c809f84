// Every page function without libraries. The bundle has each one separately, with what it needs: see bundle.ts.

export { clickBannerButton, hideBanners } from './blocking/banners.ts'
export { countElements, countSearchable, readPageFacts, rememberClosedRoots } from './blocking/page-facts.ts'
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
export { findPresence, scrollToMiddle, scrollToPosition, scrollToTop, showMiddle, showNextMiddle } from './elements/place.ts'
export { findIgnoredBoxes, findRegions, isolateElements } from './elements/regions.ts'
export { hideFixed, moveBars } from './full-page/bars.ts'
export { findWiderPart, hidesSides, hidesTop, readStart, shiftDown } from './full-page/edges.ts'
export { findFolded } from './full-page/folded.ts'
export { noteShifts, placeShifted } from './full-page/parallax.ts'
export { pinHeights, prepareReveal, unpinHeights } from './full-page/reveal.ts'
export { freezeScrollAnimations, noteSectionLinks, restoreSectionLinks, scrollWindow } from './full-page/scroll.ts'
export { readExtent, unfold, unlock } from './full-page/unfold.ts'
export {
  addSheet,
  collapseBlocked,
  coverMatches,
  hideInShadow,
  leaveOutMatches,
  redactMatches,
  returnPasswords,
  takePasswords,
} from './injection/hide.ts'
export { findLoader, findSelectorFault, findUnknownFeatures, hasNoRule, readTransparency } from './injection/syntax.ts'
export { adjustGlobals, refuseServiceWorkers, refuseWebSockets, removeSharedWorkers, writeStorage } from './navigation/before-scripts.ts'
export { startClock } from './navigation/clock.ts'
export { findBrokenRule, looksChallenged, readUrl } from './navigation/content.ts'
export { openHere } from './navigation/new-tab.ts'
export { readPdfOutcome, showPdf } from './navigation/pdf.ts'
export { readDocumentFacts, readNotes, readText } from './output/document.ts'
export { readLinks } from './output/links.ts'
export { readHtml } from './output/saved-html.ts'
export { findScroller, hasPlayingSound, muteMedia, scrollScroller } from './video.ts'
export { endAnimations, isSeeking, restAnimations, restInMarquees, rewindMedia } from './waiting/animations.ts'
export { countLoading, findShownImages, nextFrame, whenIdle } from './waiting/loading.ts'
export { advanceAnimations, countChanges } from './waiting/motion.ts'
export { findAreas, findMovingAreas, nameElements } from './waiting/moving-areas.ts'
export { hasInlineScript, keepScriptingRules } from './waiting/scripting.ts'
