/** Pages and values for options whose own example would show nothing on a page of the corpus. */
export interface Scene {
  path: string
  /** Options that both pictures need. */
  among?: Readonly<Record<string, unknown>>
  /** Value that replaces the example where the example does not suit the page. */
  value?: unknown
  /** Value in the first picture. Absent: the option is not set. */
  instead?: unknown
  /** True if the option changes the window. */
  isOfAnyWindow?: true
}

const SHOP = '/shop'
const YOU = '/you'
const whole = { fullPage: true }
const pdf = { format: 'pdf' }
const video = { format: 'mp4', videoDuration: 3 }
const scrolling = { ...video, videoScenario: 'scroll' }
const clip = { clipX: 60, clipY: 150, clipWidth: 480, clipHeight: 320 }
const without = (name: keyof typeof clip) => Object.fromEntries(Object.entries(clip).filter(([other]) => other !== name))
const here = { geolocationLatitude: 48.2082, geolocationLongitude: 16.3738 }
const at = (path: string, among?: Scene['among'], rest: Omit<Scene, 'path' | 'among'> = {}): Scene => ({
  path,
  ...(among ? { among } : {}),
  ...rest,
})

/** Options that a picture cannot show, with the reason. */
export const UNSEEN: Readonly<Record<string, string>> = {
  proxy: 'It changes the route to the page: the proxies in test/integration/options/page/network.test.ts see the requests.',
  proxyBypass: 'As with proxy.',
  proxyUsername: 'As with proxy.',
  proxyPassword: 'As with proxy.',
  httpCache: 'The picture is the same: test/integration/options/output/http-cache.test.ts checks the requests.',
  clipX: 'Shown by clip_width: the four options only work together.',
  clipY: 'Shown by clip_width.',
  clipHeight: 'Shown by clip_width.',
  geolocationLatitude: 'Shown by geolocation_accuracy.',
  geolocationLongitude: 'Shown by geolocation_accuracy.',
  basicAuthUsername: 'Shown by basic_auth_password.',
}

/** By option name. Other options are shown by their example on a chapter of the book. */
export const scenes: Readonly<Record<string, Scene>> = {
  viewportWidth: at(SHOP, undefined, { value: 480 }),
  viewportHeight: at(SHOP, undefined, { value: 1100 }),
  deviceScaleFactor: at(SHOP),
  device: at(SHOP, undefined, { isOfAnyWindow: true }),
  darkMode: at(SHOP),
  format: at(SHOP),
  imageQuality: at(SHOP, { format: 'jpeg' }, { value: 10, instead: 90 }),
  omitBackground: at('/logo', { format: 'png' }),

  fullPage: at(SHOP),
  fullPageMaxHeight: at(SHOP, whole, { value: 1200 }),
  fullPageScroll: at(SHOP, whole),
  fullPageScrollDelay: at(SHOP, { ...whole, fullPageScroll: true }, { value: 300 }),
  fullPageScrollBy: at(SHOP, { ...whole, fullPageScroll: true }),
  fullPageMaxScrolls: at(SHOP, { ...whole, fullPageScroll: true }),
  fullPageSweep: at(SHOP, { ...whole, fullPageEagerImages: false }),
  fullPageEagerImages: at(SHOP, { ...whole, fullPageSweep: false }),
  fullPageAlgorithm: at(SHOP, whole, { value: 'stitch' }),
  fullPageSectionHeight: at(SHOP, { ...whole, fullPageAlgorithm: 'stitch' }, { value: 1024 }),
  fullPageFixedElements: at(SHOP, whole),
  fullPageFixViewportUnits: at(SHOP, whole),
  fullPageFullWidth: at('/wide', whole),
  fullPageScrollContainer: at('/panel', whole),
  fullPageOverflow: at('/sites/tall?height=20000', { ...whole, format: 'webp', viewportWidth: 300 }),

  selector: at(SHOP),
  selectorAlgorithm: at(SHOP, { selector: '#chart' }),
  selectorAll: at(SHOP, { selector: '.card' }),
  selectorPadding: at(SHOP, { selector: '#chart' }, { value: 40 }),
  selectorIsolate: at(SHOP, { selector: '#chart', selectorPadding: 60 }),
  selectorScrollIntoView: at(SHOP, { selector: '#chart' }),
  errorOnSelectorNotFound: at(SHOP, { selector: '#missing' }),
  clipWidth: at(SHOP, without('clipWidth'), { value: clip.clipWidth, instead: 200 }),
  captureBeyondViewport: at(SHOP, { ...clip, clipY: 700 }),

  html: {
    path: 'about:html',
    value: '<body style="font:20px Arial;margin:40px"><h1>Invoice 1042</h1><p>Three coils of rope, € 74.50</p>',
    instead: '<p>',
  },
  markdown: {
    path: 'about:html',
    value:
      '# Invoice 1042\n\n| Item | Price |\n|---|---:|\n| Rope, 3 coils | € 74.50 |\n| Anchor | € 210.00 |\n\n> Due in **14 days**.\n\n```sh\npay 1042\n```',
    instead: '.',
  },
  htmlBaseUrl: {
    path: 'about:html',
    among: { html: '<img src="/photo/4.svg" width="400"><p>A picture by a relative address.' },
    value: 'site:/',
  },
  referer: at(YOU),
  offline: {
    path: 'about:html',
    among: {
      html: '<p style="font:24px Arial">Only what came with the page:<p><img src="site:/photo/2.svg" width="300" alt="no network">',
    },
  },
  userAgent: at(YOU),
  userAgentPlatform: at(YOU),
  acceptLanguage: at(YOU),
  headersScope: at(YOU, { headers: { 'X-Preview': 'on' } }),
  headers: at(YOU),
  cookies: at(YOU),
  authorization: at(YOU),
  basicAuthPassword: at(YOU, { basicAuthUsername: 'ada' }, { instead: 'guessed' }),
  localStorage: at(YOU),
  ignoreHttpsErrors: at(YOU),
  geolocationAccuracy: at(YOU, here),
  timezone: at(YOU),
  locale: at(YOU),
  fixedTime: at(YOU),

  viewportMobile: at(SHOP, { viewportWidth: 420 }),
  viewportHasTouch: at(YOU),
  viewportLandscape: at(SHOP, { device: 'iPhone 15 Pro' }, { isOfAnyWindow: true }),
  mediaType: at(SHOP, undefined, { value: 'print' }),
  reducedMotion: at(SHOP),
  forcedColors: at(SHOP),
  prefersContrast: at(SHOP),
  mediaFeatures: at(SHOP),
  darkModeForce: at('/book/en-US/apt.html', { darkMode: true }),
  javascriptEnabled: at(SHOP),
  bypassCsp: at('/guarded'),
  pageZoom: at(SHOP),

  styles: at(SHOP),
  scripts: at(SHOP, undefined, { value: "document.querySelector('h1').textContent = 'Set by a script'" }),
  click: at(SHOP),
  initScript: at(SHOP),
  scriptsWaitUntil: at(SHOP, { scripts: "document.querySelector('h1').textContent = document.readyState" }),
  scriptUrls: at(SHOP, undefined, { value: ['site:/prepare.js'] }),
  styleUrls: at(SHOP, undefined, { value: ['site:/night.css'] }),
  hideSelectors: at(SHOP),
  includeShadowDom: at(SHOP, { hideSelectors: ['.newsletter', '#chat'] }),
  maskSelectors: at(SHOP),
  maskColor: at(SHOP, { maskSelectors: ['.avatar', 'h1'] }),
  errorOnClickSelectorNotFound: at(SHOP, { click: '#missing', waitForSelectorTimeout: 500 }),
  clickAll: at(SHOP),
  hover: at(SHOP),
  errorOnHoverSelectorNotFound: at(SHOP, { hover: '#missing', waitForSelectorTimeout: 500 }),
  pressKey: at(SHOP),
  scrollIntoView: at(SHOP),
  scrollIntoViewAdjustTop: at(SHOP, { scrollIntoView: '#prices' }, { value: 120 }),
  scrollX: at('/wide', undefined, { value: 500 }),
  scrollY: at(SHOP, undefined, { value: 900 }),
  disableAnimations: at(SHOP),
  pauseVideos: at(SHOP),

  blockAds: at('/sites/clutter'),
  blockTrackers: at('/sites/clutter'),
  blockCookieBanners: at('/asking'),
  cookieBannerAction: at('/asking', { blockCookieBanners: true }),
  blockBannersByHeuristics: at('/nagging'),
  blockChats: at('/chatting'),
  blockSocials: at('/chatting'),
  blockAnnoyances: at('/chatting'),
  blockRequests: at(SHOP, undefined, { value: ['*/photo/*'] }),
  blockResources: at(SHOP, undefined, { value: ['image'] }),
  allowRequests: at(SHOP, { blockResources: ['image'] }, { value: ['*/photo/1.svg'] }),
  blockThirdParty: at('/chatting'),
  blockServiceWorkers: at(SHOP),

  delay: at('/sites/late?ms=1500', undefined, { value: 2500 }),
  waitForSelector: at('/sites/late?ms=1500', undefined, { value: '#late' }),
  waitForSelectorState: at('/sites/hidden?ms=1500', { waitForSelector: '#late' }, { instead: 'visible' }),
  waitForSelectorTimeout: at('/sites/late?ms=1500', { waitForSelector: '#late' }, { value: 300 }),
  waitForSelectorCount: at(SHOP, { waitForSelector: '.card' }),
  waitForSelectorGone: at('/spinner'),
  waitForFunction: at('/spinner', undefined, { value: "document.querySelector('.spinner') === null" }),
  domIdleTime: at('/spinner', undefined, { value: 2000 }),
  blankPageAction: at('/blank', undefined, { value: 'fail' }),
  jobTimeout: at(SHOP, undefined, { value: 200_000 }),
  waitUntil: at(SHOP, undefined, { value: ['domcontentloaded'] }),

  failOnStatus: at('/sites/status/404'),
  failIfContentContains: at(SHOP, undefined, { value: ['Rope'] }),
  failIfContentMissing: at(SHOP, undefined, { value: ['Submarine'] }),
  failIfSelectorPresent: at(SHOP, undefined, { value: ['#chat'] }),
  failIfRequestFailed: at('/broken', undefined, { value: ['*/missing.js'] }),
  failOnScriptError: at(SHOP, { scripts: 'nothing.here()' }),
  failOnRedirect: at('/sites/redirect?to=/solid', undefined, { value: 'always' }),
  failOnPageError: at('/broken'),
  failOnBotChallenge: at(SHOP),

  imageWidth: at(SHOP, undefined, { value: 400 }),
  imageHeight: at(SHOP, undefined, { value: 200 }),
  imageFit: at(SHOP, { imageWidth: 400, imageHeight: 400 }, { value: 'cover', instead: 'contain' }),
  imagePosition: at(SHOP, { imageWidth: 300, imageHeight: 500, imageFit: 'cover' }, { value: 'right', instead: 'left' }),
  imageUpscale: at(SHOP, { imageWidth: 1500 }),
  imageBackground: at(SHOP, { imageWidth: 500, imageHeight: 500, imageFit: 'contain' }),
  backgroundColor: at('/logo'),
  imageTrim: at('/logo'),
  imageTrimThreshold: at('/logo', { imageTrim: true }, { value: 120 }),
  imagePadding: at(SHOP, { imageWidth: 500 }, { value: 60 }),
  imageLossless: at(SHOP, { format: 'webp' }),
  imageProgressive: at(SHOP, { format: 'jpeg' }),
  imagePaletteColors: at(SHOP, { format: 'png' }, { value: 8 }),
  imageMaxBytes: at(SHOP, { format: 'jpeg' }),
  imageGrayscale: at(SHOP),
  optimizeForSpeed: at(SHOP),
  videoDuration: at(SHOP, { format: 'mp4' }, { value: 2, instead: 4 }),
  videoFps: at(SHOP, video, { value: 5 }),
  videoWidth: at(SHOP, video, { value: 320 }),
  videoQuality: at(SHOP, video, { value: 5 }),
  videoScenario: at(SHOP, video, { value: 'scroll' }),
  videoScrollDuration: at(SHOP, scrolling, { value: 600 }),
  videoScrollEasing: at(SHOP, scrolling, { value: 'linear' }),
  videoScrollBack: at(SHOP, scrolling, { value: true }),
  videoScrollPause: at(SHOP, scrolling, { value: 1200 }),
  videoPoster: at(SHOP, video, { value: true }),
  videoTiming: at(SHOP, video, { value: 'real' }),

  thumbnailWidth: at(SHOP, undefined, { value: 200 }),
  thumbnailHeight: at(SHOP, { thumbnailWidth: 200 }, { value: 80 }),
  thumbnailFormat: at(SHOP, { thumbnailWidth: 200 }),

  ...Object.fromEntries(
    Object.entries({
      pdfPaperFormat: 'a6',
      pdfWidth: undefined,
      pdfHeight: undefined,
      pdfLandscape: undefined,
      pdfPrintBackground: undefined,
      pdfScale: 0.5,
      pdfMarginTop: '40mm',
      pdfMarginRight: '40mm',
      pdfMarginBottom: '40mm',
      pdfMarginLeft: '40mm',
      pdfPageRanges: '2',
      pdfFitOnePage: undefined,
      pdfPreferCssPageSize: undefined,
      pdfHeaderTemplate: '<p style="font-size:14px;margin:0 auto">Header: <span class="title"></span></p>',
      pdfFooterTemplate: '<p style="font-size:14px;margin:0 auto">Page <span class="pageNumber"></span></p>',
      pdfTagged: undefined,
      pdfOutline: undefined,
    }).map(([name, value]): [string, Scene] => [name, at(SHOP, pdf, value === undefined ? {} : { value })]),
  ),
}
