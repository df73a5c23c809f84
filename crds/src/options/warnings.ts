import { toSnakeCase } from '../text/words.ts'
import { type AllOptions, all, any, type Condition, is, not, type OptionName, on, other, set } from './conditions.ts'
import { MovingFormat, pdfGroup } from './output/formats.ts'
import { hasFormats, isLocale } from './page/browser.ts'

// Options that are set but have no effect, because of other options. The request is accepted, and the record lists them in `warnings`.

/** A combination in which an option has no effect. */
export interface Warning {
  /** In camel case. */
  option: OptionName
  /** The end of the sentence `… has no effect …`, such as `without full_page`. */
  reason: string
  /** Whether the option has no effect. Called only for options that are set. */
  condition: Pick<Condition, 'holds'>
}

const warn = (names: readonly OptionName[], reason: string, condition: Pick<Condition, 'holds'>): Warning[] =>
  names.map((option) => ({ option, reason, condition }))

const isPng = not(other('format', 'png'))
const isPdf = is('format', 'pdf')
const isVideo = is('format', ...MovingFormat.options)
/** A pdf always shows the whole page. */
const isWhole = any(on('fullPage'), isPdf)
const isPart = any(isWhole, set('selector'), set('clipX'))
const isResizedBothWays = all(set('imageWidth'), set('imageHeight'))
const hasFill = any(on('imagePadding'), all(isResizedBothWays, is('imageFit', 'contain')), is('format', 'jpeg'))
const isMarkup = any(on('html'), on('markdown'))
const isOwnMarkup = all(isMarkup, not(set('htmlBaseUrl')))

const PICTURE_OPTIONS = [
  ...(['imageWidth', 'imageHeight', 'imageTrim', 'imagePadding', 'imageLossless', 'imageProgressive', 'imagePaletteColors'] as const),
  ...(['imageMaxBytes', 'imageGrayscale', 'optimizeForSpeed', 'metadataImageSize', 'metadataPalette', 'fullPageFullWidth'] as const),
  ...(['fullPageAlgorithm', 'fullPageSectionHeight', 'fullPageFixedElements', 'fullPageOverflow', 'captureBeyondViewport'] as const),
] as const
const ELEMENT_OPTIONS = [
  ...(['selectorAlgorithm', 'selectorAll', 'selectorPadding', 'selectorIsolate'] as const),
  ...(['selectorScrollIntoView', 'errorOnSelectorNotFound'] as const),
] as const

/** Options of pictures without effect on videos. Other warnings, and contradictions, cover the rest. */
const STILL_OPTIONS = [
  ...(['imageQuality', 'imageTrim', 'imagePadding', 'imageLossless', 'imageProgressive', 'imageGrayscale'] as const),
  'metadataPalette',
] as const

/** Every combination with a warning. */
export const warnings: readonly Warning[] = [
  ...warn(['imageQuality'], 'on png', isPng),
  ...warn(['imageQuality'], 'on pdf', isPdf),
  ...warn(
    ['fullPageMaxHeight', 'fullPageScroll', 'fullPageFixViewportUnits', 'fullPageScrollContainer'],
    'without full_page',
    not(isWhole),
  ),
  ...warn(['fullPageAlgorithm', 'fullPageFullWidth'], 'without full_page', not(isWhole)),
  ...warn(['fullPageSweep', 'fullPageEagerImages', 'fullPageFixedElements'], 'without full_page', not(isPart)),
  ...warn(
    ['fullPageScrollDelay', 'fullPageScrollBy', 'fullPageMaxScrolls'],
    'without full_page_scroll',
    not(all(isWhole, on('fullPageScroll'))),
  ),
  ...warn(ELEMENT_OPTIONS, 'without selector', not(set('selector'))),
  ...warn(['captureBeyondViewport'], 'without full_page, selector or clip_x', not(isPart)),
  ...warn(['imageFit'], 'without image_width and image_height', not(isResizedBothWays)),
  ...warn(['imageUpscale'], 'without image_width or image_height', not(any(set('imageWidth'), set('imageHeight')))),
  ...warn(
    ['imagePosition'],
    'without image_width, image_height and image_fit cover or contain',
    not(all(isResizedBothWays, is('imageFit', 'cover', 'contain'))),
  ),
  ...warn(['imageBackground'], 'without image_padding, image_fit contain or format jpeg', not(hasFill)),
  ...warn(['imageTrimThreshold'], 'without image_trim', not(on('imageTrim'))),
  ...warn(['imageLossless'], 'on png, which is always lossless', isPng),
  ...warn(['imageProgressive'], 'on webp and avif', is('format', 'webp', 'avif')),
  ...warn(['imagePaletteColors', 'optimizeForSpeed'], 'on formats other than png', other('format', 'png', 'pdf')),
  ...warn(['thumbnailFormat'], 'without thumbnail_width or thumbnail_height', not(any(set('thumbnailWidth'), set('thumbnailHeight')))),
  ...warn(['previewFormat', 'previewMaxSide', 'previewMaxBytes'], 'without preview', not(set('preview'))),
  ...warn(['previewMaxSlices'], 'without preview slices', not(is('preview', 'slices'))),
  ...warn(['compareThreshold', 'compareColorTolerance', 'compareAntialiasing'], 'without compare_to', not(set('compareTo'))),
  ...warn(['compareIgnore', 'compareAcceptStatus'], 'on pdf', isPdf),
  ...warn(PICTURE_OPTIONS, 'on pdf', isPdf),
  ...warn(STILL_OPTIONS, 'on mp4, webm and gif', isVideo),
  ...warn(Object.keys(pdfGroup.options) as (keyof typeof pdfGroup.options)[], 'without format pdf', not(isPdf)),
  ...warn(['headersScope'], 'without headers and authorization', not(any(set('headers'), set('authorization')))),
  ...warn(['referer'], 'on html and markdown, which are not requested from a server', isMarkup),
  ...warn(
    ['headers', 'authorization'],
    'on html and markdown without html_base_url, unless headers_scope is all',
    all(isOwnMarkup, not(is('headersScope', 'all'))),
  ),
  ...warn(['basicAuthUsername'], 'on html and markdown without html_base_url', isOwnMarkup),
  ...warn(
    ['initScript'],
    'if javascript_enabled is false; use scripts, which run after the page has loaded',
    all(set('javascriptEnabled'), not(on('javascriptEnabled'))),
  ),
  ...warn(['locale'], 'on formats if the browser knows no language with this tag', {
    holds: ({ locale = '' }) => isLocale(locale) && !hasFormats(locale),
  }),
  ...warn(['geolocationAccuracy'], 'without geolocation_latitude', not(set('geolocationLatitude'))),
]

/** Returns a warning such as `image_quality has no effect on png` for each option that is set but has no effect. */
export const findWarnings = (options: AllOptions): string[] =>
  warnings
    .filter(({ option, condition }) => options[option] !== undefined && condition.holds(options))
    .map(({ option, reason }) => `${toSnakeCase(option)} has no effect ${reason}`)
