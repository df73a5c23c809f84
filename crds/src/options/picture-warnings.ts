import { toSnakeCase } from '../text/snake-case.ts'
import type { AllOptions } from './contradictions.ts'
import type { Warning } from './warning.ts'

// Options of the picture, the pdf and what goes with them that change nothing because of others.

type Name = keyof AllOptions & string
type Test = (options: AllOptions) => boolean

const idle = (names: readonly Name[], reason: string, isIdle: Test): Warning[] => names.map((option) => ({ option, reason, isIdle }))

const formatOf = ({ format = 'png' }: AllOptions) => format
const isPdf: Test = (options) => formatOf(options) === 'pdf'
/** A pdf is of the whole page. */
const isWhole: Test = (options) => options.fullPage === true || isPdf(options)
const isRegion: Test = ({ selector, clipX }) => selector !== undefined || clipX !== undefined
const isResized: Test = ({ imageWidth, imageHeight }) => imageWidth !== undefined || imageHeight !== undefined
const isResizedBothWays: Test = ({ imageWidth, imageHeight }) => imageWidth !== undefined && imageHeight !== undefined
const isScrolled: Test = (options) => isWhole(options) && options.fullPageScroll === true
const isCropped: Test = (options) => isResizedBothWays(options) && /^(cover|contain)$/.test(options.imageFit ?? '')
const isFilled: Test = (options) =>
  Boolean(options.imagePadding) || (isResizedBothWays(options) && options.imageFit === 'contain') || formatOf(options) === 'jpeg'
const isSmallCopied: Test = ({ thumbnailWidth, thumbnailHeight }) => thumbnailWidth !== undefined || thumbnailHeight !== undefined

const PDF_OPTIONS: readonly Name[] = [
  ...(['pdfPaperFormat', 'pdfWidth', 'pdfHeight', 'pdfLandscape', 'pdfPrintBackground', 'pdfScale'] as const),
  ...(['pdfMarginTop', 'pdfMarginRight', 'pdfMarginBottom', 'pdfMarginLeft', 'pdfPageRanges', 'pdfFitOnePage'] as const),
  ...(['pdfPreferCssPageSize', 'pdfHeaderTemplate', 'pdfFooterTemplate', 'pdfTagged', 'pdfOutline'] as const),
]
const PICTURE_OPTIONS: readonly Name[] = [
  ...(['imageWidth', 'imageHeight', 'imageTrim', 'imagePadding', 'imageLossless', 'imageProgressive', 'imagePaletteColors'] as const),
  ...(['imageMaxBytes', 'imageGrayscale', 'optimizeForSpeed', 'metadataImageSize', 'metadataPalette', 'fullPageFullWidth'] as const),
  ...(['fullPageAlgorithm', 'fullPageSectionHeight', 'fullPageFixedElements', 'fullPageOverflow', 'captureBeyondViewport'] as const),
]
const ELEMENT_OPTIONS: readonly Name[] = [
  ...(['selectorAlgorithm', 'selectorAll', 'selectorPadding', 'selectorIsolate'] as const),
  ...(['selectorScrollIntoView', 'errorOnSelectorNotFound'] as const),
]

const not =
  (test: Test): Test =>
  (options) =>
    !test(options)

/** Each of them, and when. */
export const pictureWarnings: readonly Warning[] = [
  ...idle(['imageQuality'], 'on png', (options) => formatOf(options) === 'png'),
  ...idle(['imageQuality'], 'on pdf', isPdf),
  ...idle(
    ['fullPageMaxHeight', 'fullPageScroll', 'fullPageFixViewportUnits', 'fullPageScrollContainer'],
    'without full_page',
    not(isWhole),
  ),
  ...idle(['fullPageAlgorithm', 'fullPageFixedElements', 'fullPageFullWidth'], 'without full_page', not(isWhole)),
  ...idle(['fullPageSweep', 'fullPageEagerImages'], 'without full_page', (options) => !isWhole(options) && !isRegion(options)),
  ...idle(['fullPageScrollDelay', 'fullPageScrollBy', 'fullPageMaxScrolls'], 'without full_page_scroll', not(isScrolled)),
  ...idle(ELEMENT_OPTIONS, 'without selector', ({ selector }) => selector === undefined),
  ...idle(['captureBeyondViewport'], 'without full_page, selector or clip_x', (options) => !isWhole(options) && !isRegion(options)),
  ...idle(['imageFit'], 'without image_width and image_height', not(isResizedBothWays)),
  ...idle(['imageUpscale'], 'without image_width or image_height', not(isResized)),
  ...idle(['imagePosition'], 'without image_fit cover or contain and both sides', not(isCropped)),
  ...idle(['imageBackground'], 'without padding, contain or jpeg', not(isFilled)),
  ...idle(['imageTrimThreshold'], 'without image_trim', ({ imageTrim }) => !imageTrim),
  ...idle(['imageLossless'], 'on png, which always is', (options) => formatOf(options) === 'png'),
  ...idle(['imageProgressive'], 'on webp and avif', (options) => /^(webp|avif)$/.test(formatOf(options))),
  ...idle(['imagePaletteColors'], 'on other formats than png', (options) => !/^(png|pdf)$/.test(formatOf(options))),
  ...idle(['optimizeForSpeed'], 'on other formats than png', (options) => !/^(png|pdf)$/.test(formatOf(options))),
  ...idle(['thumbnailFormat'], 'without thumbnail_width or thumbnail_height', not(isSmallCopied)),
  ...idle(PICTURE_OPTIONS, 'on pdf', isPdf),
  ...idle(PDF_OPTIONS, `without ${toSnakeCase('format')} pdf`, not(isPdf)),
]
