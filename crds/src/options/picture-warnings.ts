import { toSnakeCase } from '../text/snake-case.ts'
import type { AllOptions, OptionName } from './contradiction.ts'
import { isMoving } from './output/image.ts'
import type { Warning } from './warning.ts'

// Options of pictures and pdfs that have no effect in combination with other options.

type Test = (options: AllOptions) => boolean

const warn = (names: readonly OptionName[], reason: string, hasNoEffect: Test): Warning[] =>
  names.map((option) => ({ option, reason, hasNoEffect }))

const formatOf = ({ format = 'png' }: AllOptions) => format
const isPdf: Test = (options) => formatOf(options) === 'pdf'
const isVideo: Test = (options) => isMoving(options.format)
/** A pdf always shows the whole page. */
const isWhole: Test = (options) => options.fullPage === true || isPdf(options)
const isRegion: Test = ({ selector, clipX }) => selector !== undefined || clipX !== undefined
const isResized: Test = ({ imageWidth, imageHeight }) => imageWidth !== undefined || imageHeight !== undefined
const isResizedBothWays: Test = ({ imageWidth, imageHeight }) => imageWidth !== undefined && imageHeight !== undefined
const isScrolled: Test = (options) => isWhole(options) && options.fullPageScroll === true
const isCropped: Test = (options) => isResizedBothWays(options) && /^(cover|contain)$/.test(options.imageFit ?? '')
const hasFill: Test = (options) =>
  Boolean(options.imagePadding) || (isResizedBothWays(options) && options.imageFit === 'contain') || formatOf(options) === 'jpeg'
const hasThumbnail: Test = ({ thumbnailWidth, thumbnailHeight }) => thumbnailWidth !== undefined || thumbnailHeight !== undefined

const PDF_OPTIONS: readonly OptionName[] = [
  ...(['pdfPaperFormat', 'pdfWidth', 'pdfHeight', 'pdfLandscape', 'pdfPrintBackground', 'pdfScale'] as const),
  ...(['pdfMarginTop', 'pdfMarginRight', 'pdfMarginBottom', 'pdfMarginLeft', 'pdfPageRanges', 'pdfFitOnePage'] as const),
  ...(['pdfPreferCssPageSize', 'pdfHeaderTemplate', 'pdfFooterTemplate', 'pdfTagged', 'pdfOutline'] as const),
]
const PICTURE_OPTIONS: readonly OptionName[] = [
  ...(['imageWidth', 'imageHeight', 'imageTrim', 'imagePadding', 'imageLossless', 'imageProgressive', 'imagePaletteColors'] as const),
  ...(['imageMaxBytes', 'imageGrayscale', 'optimizeForSpeed', 'metadataImageSize', 'metadataPalette', 'fullPageFullWidth'] as const),
  ...(['fullPageAlgorithm', 'fullPageSectionHeight', 'fullPageFixedElements', 'fullPageOverflow', 'captureBeyondViewport'] as const),
]
const ELEMENT_OPTIONS: readonly OptionName[] = [
  ...(['selectorAlgorithm', 'selectorAll', 'selectorPadding', 'selectorIsolate'] as const),
  ...(['selectorScrollIntoView', 'errorOnSelectorNotFound'] as const),
]

/** Options of pictures without effect on videos. Other warnings, and contradictions, cover the rest. */
const STILL_OPTIONS: readonly OptionName[] = [
  ...(['imageQuality', 'imageTrim', 'imagePadding', 'imageLossless', 'imageProgressive', 'imageGrayscale'] as const),
  'metadataPalette',
]

const not =
  (test: Test): Test =>
  (options) =>
    !test(options)

/** Each warning, with its condition. */
export const pictureWarnings: readonly Warning[] = [
  ...warn(['imageQuality'], 'on png', (options) => formatOf(options) === 'png'),
  ...warn(['imageQuality'], 'on pdf', isPdf),
  ...warn(
    ['fullPageMaxHeight', 'fullPageScroll', 'fullPageFixViewportUnits', 'fullPageScrollContainer'],
    'without full_page',
    not(isWhole),
  ),
  ...warn(['fullPageAlgorithm', 'fullPageFullWidth'], 'without full_page', not(isWhole)),
  ...warn(
    ['fullPageSweep', 'fullPageEagerImages', 'fullPageFixedElements'],
    'without full_page',
    (options) => !isWhole(options) && !isRegion(options),
  ),
  ...warn(['fullPageScrollDelay', 'fullPageScrollBy', 'fullPageMaxScrolls'], 'without full_page_scroll', not(isScrolled)),
  ...warn(ELEMENT_OPTIONS, 'without selector', ({ selector }) => selector === undefined),
  ...warn(['captureBeyondViewport'], 'without full_page, selector or clip_x', (options) => !isWhole(options) && !isRegion(options)),
  ...warn(['imageFit'], 'without image_width and image_height', not(isResizedBothWays)),
  ...warn(['imageUpscale'], 'without image_width or image_height', not(isResized)),
  ...warn(['imagePosition'], 'without image_width, image_height and image_fit cover or contain', not(isCropped)),
  ...warn(['imageBackground'], 'without image_padding, image_fit contain or format jpeg', not(hasFill)),
  ...warn(['imageTrimThreshold'], 'without image_trim', ({ imageTrim }) => !imageTrim),
  ...warn(['imageLossless'], 'on png, which is always lossless', (options) => formatOf(options) === 'png'),
  ...warn(['imageProgressive'], 'on webp and avif', (options) => /^(webp|avif)$/.test(formatOf(options))),
  ...warn(['imagePaletteColors'], 'on formats other than png', (options) => !/^(png|pdf)$/.test(formatOf(options))),
  ...warn(['optimizeForSpeed'], 'on formats other than png', (options) => !/^(png|pdf)$/.test(formatOf(options))),
  ...warn(['thumbnailFormat'], 'without thumbnail_width or thumbnail_height', not(hasThumbnail)),
  ...warn(
    ['compareThreshold', 'compareColorTolerance', 'compareAntialiasing'],
    'without compare_to',
    ({ compareTo }) => compareTo === undefined,
  ),
  ...warn(['compareIgnore', 'compareAcceptStatus'], 'on pdf', isPdf),
  ...warn(PICTURE_OPTIONS, 'on pdf', isPdf),
  ...warn(STILL_OPTIONS, 'on mp4, webm and gif', isVideo),
  ...warn(PDF_OPTIONS, `without ${toSnakeCase('format')} pdf`, not(isPdf)),
]
