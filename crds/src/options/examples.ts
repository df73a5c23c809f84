import type { z } from 'zod'
import { CaptureOptions, captureDefaults } from './catalog.ts'
import { toOptionSchema } from './option-schema.ts'
import { cacheDefaults, cacheOptions } from './output/cache.ts'
import { deliveryDefaults, deliveryOptions } from './output/delivery.ts'
import { PrivateOptions } from './private.ts'

/** Example values that cannot be derived from a schema, mostly texts. By names in camel case. */
const examples: Readonly<Record<string, unknown>> = {
  device: 'iPhone 15 Pro',
  styles: 'header { display: none }',
  scripts: "document.querySelector('video')?.remove()",
  click: '#accept',
  initScript: 'window.isPreview = true',
  scriptsWaitUntil: ['networkidle'],
  scriptUrls: ['https://example.com/prepare.js'],
  styleUrls: ['https://example.com/print.css'],
  hideSelectors: ['.newsletter', '#chat'],
  maskSelectors: ['.avatar'],
  maskColor: '#808080',
  clickAll: 'details > summary',
  hover: '#menu',
  pressKey: 'Escape',
  scrollIntoView: '#prices',
  blockRequests: ['*://*/analytics/*'],
  blockResources: ['font', 'media'],
  allowRequests: ['*://cdn.example.com/*'],
  waitForSelector: '#content',
  waitForSelectorGone: '.spinner',
  waitForFunction: 'window.charts?.ready',
  waitUntil: ['networkidle'],
  failOnStatus: ['404', '500-599'],
  failIfContentContains: ['Access denied'],
  failIfContentMissing: ['Add to basket'],
  failIfSelectorPresent: ['.captcha'],
  failIfRequestFailed: ['*://*/app.js'],
  fullPageScrollContainer: 'auto',
  selector: '#chart',
  imageBackground: '#336699',
  backgroundColor: '#fffbe6',
  pdfWidth: '210mm',
  pdfHeight: '99mm',
  pdfMarginTop: '12mm',
  pdfMarginRight: '12mm',
  pdfMarginBottom: '12mm',
  pdfMarginLeft: '12mm',
  pdfPageRanges: '1-3,5',
  pdfHeaderTemplate: '<span class="title" style="font-size: 9px"></span>',
  pdfFooterTemplate: '<span class="pageNumber" style="font-size: 9px"></span>',
  videoScenario: 'scroll',
  videoScrollEasing: 'linear',
  videoTiming: 'real',
  html: '<h1>Invoice 1042</h1>',
  markdown: '# Invoice 1042',
  htmlBaseUrl: 'https://example.com/invoices/',
  referer: 'https://www.google.com/',
  userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  userAgentPlatform: 'Win32',
  acceptLanguage: 'de-AT,de;q=0.9',
  proxy: 'http://proxy.example.com:3128',
  proxyBypass: ['*.example.com'],
  geolocationLatitude: 48.2082,
  geolocationLongitude: 16.3738,
  geolocationAccuracy: 20,
  timezone: 'Europe/Vienna',
  locale: 'de-AT',
  fixedTime: '2026-11-21T18:00:00Z',
  mediaFeatures: { 'color-gamut': 'p3' },
  localStorage: { theme: 'dark' },
  proxyUsername: 'ada',
  proxyPassword: 'lovelace',
  headers: { 'X-Preview': 'on' },
  cookies: [{ name: 'session', value: '7f3a' }],
  authorization: 'Bearer 7f3a',
  basicAuthUsername: 'ada',
  basicAuthPassword: 'lovelace',
  compareTo: 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd',
  compareIgnore: [{ selector: '#clock' }, { x: 0, y: 0, width: 320, height: 60 }],
  compareAcceptStatus: ['404'],
  compareThreshold: 0.01,
  compareColorTolerance: 0.05,
  cacheKey: 'november',
  storageBucket: 'acme-pictures',
  storageEndpoint: 'https://s3.eu-central-1.amazonaws.com',
  storageRegion: 'eu-central-1',
  storagePath: 'pages/{host}/{date}/{id}.{format}',
  storageAccessKeyId: 'AKIDEXAMPLE',
  storageSecretAccessKey: 'lovelace',
  attachmentName: 'front-page.png',
  webhookUrl: 'https://hooks.example.com/in',
  webhookEvents: ['screenshot.failed'],
  externalIdentifier: 'order-1042',
}

const schemas: Readonly<Record<string, z.ZodType>> = {
  ...CaptureOptions.shape,
  ...PrivateOptions.shape,
  ...deliveryOptions,
  ...cacheOptions,
}
const defaults: Readonly<Record<string, unknown>> = { ...captureDefaults, ...deliveryDefaults, ...cacheDefaults }

/** An example value of an option, different from its default. Takes the name in camel case. Returns undefined if there is no example. */
export function exampleOf(name: string): unknown {
  const given = examples[name]
  const schema = schemas[name]
  if (given !== undefined || schema === undefined) return given
  const { type, enum: values, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = toOptionSchema(schema)
  const preset = defaults[name]
  const isOther = (value: unknown): boolean => value !== preset
  if (values) return values.find(isOther)
  if (type === 'boolean') return preset !== true
  if (type !== 'integer' && type !== 'number') return undefined
  const usual = typeof preset === 'number' ? preset : minimum
  return [usual * 2, (minimum + maximum) / 2, maximum].find(
    (value) => isOther(value) && value >= minimum && value <= maximum && value % 1 === 0,
  )
}
