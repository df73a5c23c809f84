// Pages with consent banners: some with libraries from npm, five built from the elements in autoconsent's public rules for platforms that are not
// available. All show the same page around the banner, and their title shows the choice.

import { readdirSync, readFileSync } from 'node:fs'
import type { Pages } from '../../capture-runner/stage/page-server.ts'

const modules = new URL('../../../../node_modules/', import.meta.url)

const CONTENT = `<h1 style="margin:40px">News of the day</h1><div style="height:300px;background:#00f"></div><p style="margin:40px">A paragraph under it.</p>
  <div style="position:fixed;right:0;top:0;width:200px;height:60px;background:#0f0"></div>`

const around = (head: string, body: string): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>asked nothing</title>${head}</head><body style="margin:0;background:#eee">${CONTENT}${body}</body></html>`

/** The page without a banner. */
export const PLAIN = around('', '')

/** Records the visitor's choice. */
const TELL = `<script>const tell = (word) => { document.title = word }</script>`

const BAR = 'position:fixed;left:0;right:0;bottom:0;height:260px;background:#f00;z-index:99999'
const buttons = (attributes: { accept: string; reject: string }, gone: string): string =>
  `<button ${attributes.accept} onclick="${gone};tell('accepted')">Accept all</button> <button ${attributes.reject} onclick="${gone};tell('refused')">Reject all</button>`

/** A banner with a platform's elements. */
const mock = (html: string, script = ''): string => around(TELL, `${html}<script>${script}</script>`)

/** Pages by the name of the library or platform. */
export const BANNER_PAGES: Readonly<Record<string, string>> = {
  'vanilla-cookieconsent': around(
    `${TELL}<link rel="stylesheet" href="/vanilla-cookieconsent/dist/cookieconsent.css">`,
    `<script src="/vanilla-cookieconsent/dist/cookieconsent.umd.js"></script><script>
     CookieConsent.run({ categories: { necessary: { enabled: true, readOnly: true }, analytics: {} }, disablePageInteraction: true, hideFromBots: false,
       onFirstConsent: ({ cookie }) => tell(cookie.categories.includes('analytics') ? 'accepted' : 'refused'),
       language: { default: 'en', translations: { en: { consentModal: { title: 'We use cookies', description: 'May we?', acceptAllBtn: 'Accept all',
         acceptNecessaryBtn: 'Reject all' }, preferencesModal: { sections: [] } } } } })</script>`,
  ),
  klaro: around(
    TELL,
    `<script>var klaroConfig = { acceptAll: true, services: [{ name: 'counter', purposes: ['analytics'], cookies: ['x'] }] }</script>
     <script src="/klaro/dist/klaro.js"></script>`,
  ),
  tarteaucitron: around(
    TELL,
    `<script src="/tarteaucitronjs/tarteaucitron.js"></script><script>
     tarteaucitron.init({ orientation: 'bottom', DenyAllCta: true, AcceptAllCta: true, highPrivacy: true, showAlertSmall: false, showIcon: false, cookieName: 'tarteaucitron' })
     tarteaucitron.services.counter = { key: 'counter', type: 'analytic', name: 'Counter', needConsent: true, cookies: [], js: () => tell('accepted'), fallback: () => {} };
     (tarteaucitron.job = tarteaucitron.job || []).push('counter')
     addEventListener('counter_disallowed', () => tell('refused')); addEventListener('tac.close_alert', () => {})</script>`,
  ),
  cookieconsent: around(
    `${TELL}<link rel="stylesheet" href="/cookieconsent/build/cookieconsent.min.css">`,
    `<script src="/cookieconsent/build/cookieconsent.min.js"></script><script>
     window.cookieconsent.initialise({ type: 'opt-in', palette: { popup: { background: '#f00' }, button: { background: '#fff' } },
       onStatusChange: (status) => tell(status === 'deny' ? 'refused' : 'accepted') })</script>`,
  ),
  orejime: around(
    `${TELL}<link rel="stylesheet" href="/orejime/dist/orejime-standard.css">`,
    `<script>window.orejimeConfig = { privacyPolicyUrl: '/privacy', forceBanner: true, purposes: [{ id: 'counter', title: 'Counter', cookies: ['x'] }] }</script>
     <script src="/orejime/dist/orejime-standard-en.js"></script>`,
  ),
  'react-cookie-consent': around(
    TELL,
    `<div id="app"></div><script src="/react/umd/react.production.min.js"></script><script src="/react-dom/umd/react-dom.production.min.js"></script>
     <script src="/react-cookie-consent/dist/react-cookie-consent.umd.js"></script><script>
     const Consent = ReactCookieConsent.default
     ReactDOM.createRoot(document.querySelector('#app')).render(React.createElement(Consent, { enableDeclineButton: true,
       onAccept: () => tell('accepted'), onDecline: () => tell('refused') }, 'This website uses cookies to enhance the user experience.'))</script>`,
  ),
  'cookie-notice': around(TELL, '<script src="/cookie-notice/dist/cookie.notice.min.js"></script>'),
  'cookie-consent-js': around(
    `${TELL}<style>.cookie-consent-modal .modal-content-wrap { position: fixed; bottom: 0; margin: 1rem; z-index: 1000 } .modal-content { background: #f8f9fa; padding: 1rem }</style>`,
    `<script src="/cookie-consent-js/src/cookie-consent.js"></script><script>
     new CookieConsent({ contentUrl: '/cookie-consent-js/cookie-consent-content', privacyPolicyUrl: '/privacy' })</script>`,
  ),
  cookiecraft: around(
    `${TELL}<link rel="stylesheet" href="/cookiecraft/dist/cookiecraft.css">`,
    `<script src="/cookiecraft/dist/cookiecraft.min.js"></script><script>
     new CookieCraft.CookieConsent({ primaryColor: '#0066cc', categories: { necessary: { enabled: true, readOnly: true, label: 'Essential', description: 'Needed.' },
       analytics: { enabled: true, readOnly: false, label: 'Analytics', description: 'Counts.' } } }).init()</script>`,
  ),
  'cookies-eu-banner': around(
    TELL,
    `<template id="cookies-eu-banner-template"><div id="cookies-eu-banner" style="${BAR}">By continuing to visit this site, you accept the use of cookies by Google Analytics
     for statistical purposes. <button id="cookies-eu-reject" onclick="tell('refused')">Reject</button> <button id="cookies-eu-accept">Accept</button></div></template>
     <script src="/cookies-eu-banner/dist/cookies-eu-banner.global.js"></script><script>CookiesEuBanner.createCookiesBanner({ onAccept: () => tell('accepted') })</script>`,
  ),
  'canonical-cookie-policy': around(
    `${TELL}<link rel="stylesheet" href="/@canonical/cookie-policy/build/css/cookie-policy.css">`,
    '<script src="/@canonical/cookie-policy/build/js/cookie-policy.js"></script><script>cpNs.cookiePolicy()</script>',
  ),
  'porsche-cookie-consent-banner': around(
    TELL,
    `<cookie-consent-banner btn-label-accept-and-continue="Agree and continue" btn-label-only-essential-and-continue="Continue with technically required cookies only"
       btn-label-persist-selection-and-continue="Save selection and continue" btn-label-select-all-and-continue="Select all and continue">We use cookies and similar
     technologies to provide certain features.</cookie-consent-banner>
     <script type="module" src="/@porscheofficial/cookie-consent-banner/dist/cookie-consent-banner/cookie-consent-banner.esm.js"></script><script>
     document.querySelector('cookie-consent-banner').availableCategories = [{ key: 'technically_required', label: 'Needed', description: 'Needed', isMandatory: true },
       { key: 'analytics', label: 'Analytics', description: 'Counts' }]</script>`,
  ),
  OneTrust: mock(
    `<div id="onetrust-consent-sdk"><div class="onetrust-pc-dark-filter" style="position:fixed;inset:0;background:#0008"></div>
     <div id="onetrust-banner-sdk" role="dialog" style="${BAR}">We use cookies.
     ${buttons({ accept: 'id="onetrust-accept-btn-handler"', reject: 'id="onetrust-reject-all-handler"' }, "document.querySelector('#onetrust-consent-sdk').remove()")}</div></div>`,
  ),
  Cookiebot: mock(
    `<div id="CybotCookiebotDialogBodyUnderlay" style="position:fixed;inset:0;background:#0008"></div>
     <div id="CybotCookiebotDialog" style="${BAR}">This website uses cookies.
     <button id="CybotCookiebotDialogBodyButtonAccept" onclick="end('accepted')">Allow all</button>
     <button id="CybotCookiebotDialogBodyLevelButtonLevelOptinDeclineAll" onclick="end('refused')">Deny</button></div>`,
    `window.Cookiebot = { hasResponse: false, dialog: { visible: true }, withdraw() {}, hide() {} }
     const end = (word) => { Cookiebot.hasResponse = true; document.querySelectorAll('[id^=CybotCookiebotDialog]').forEach((e) => e.remove()); tell(word) }`,
  ),
  Didomi: mock(
    `<div id="didomi-host"><div id="didomi-popup" class="didomi-popup-backdrop" style="position:fixed;inset:0;background:#0008">
     <div id="didomi-notice" class="didomi-popup-notice" style="${BAR}">We and our partners use cookies.
     ${buttons({ accept: 'id="didomi-notice-agree-button"', reject: 'id="didomi-notice-disagree-button"' }, "document.querySelector('#didomi-host').replaceChildren()")}</div></div></div>`,
  ),
  Usercentrics: mock(
    '<div id="usercentrics-root"></div>',
    `const root = document.querySelector('#usercentrics-root').attachShadow({ mode: 'open' })
     root.innerHTML = '<div data-testid="uc-container" style="${BAR}">Privacy settings <button data-testid="uc-accept-all-button">Accept all</button><button data-testid="uc-deny-all-button">Deny</button></div>'
     const end = (word) => { root.innerHTML = ''; tell(word) }
     root.querySelector('[data-testid=uc-deny-all-button]').onclick = () => end('refused')
     root.querySelector('[data-testid=uc-accept-all-button]').onclick = () => end('accepted')
     window.UC_UI = { closeCMP: () => true, denyAllConsents: () => { end('refused'); return true }, acceptAllConsents: () => { end('accepted'); return true } }`,
  ),
  Sourcepoint: mock(
    '',
    `const place = document.createElement('div'); place.id = 'sp_message_container_1'
     place.style.cssText = 'position:fixed;inset:0;background:#0008;z-index:99999'
     place.innerHTML = '<iframe id="sp_message_iframe_1" style="${BAR.replace('z-index:99999', '')};width:100%;border:0" src="//cdn.privacy-mgmt.example:' + location.port + '/index.html?message_id=1&consentUUID=1"></iframe>'
     setTimeout(() => document.body.append(place), 300); document.documentElement.classList.add('sp-message-open')
     addEventListener('message', ({ data }) => { if (data?.said) { place.remove(); tell(data.said) } })`,
  ),
}

const SOURCEPOINT_FRAME = `<!doctype html><body style="background:#f00"><div class="message type-modal">We value your privacy
  <button class="sp_choice_type_11" onclick="parent.postMessage({ said: 'accepted' }, '*')">Accept</button>
  <button class="sp_choice_type_13" onclick="parent.postMessage({ said: 'refused' }, '*')">Reject all</button></div></body>`

const PORSCHE = '/@porscheofficial/cookie-consent-banner/dist/cookie-consent-banner/'

const TYPES: Readonly<Record<string, string>> = { css: 'text/css', js: 'text/javascript', json: 'application/json' }

/** The site with the pages and the libraries' files. */
export function bannerSite(): Pages {
  const files = [
    ...new Set(
      Object.values(BANNER_PAGES).flatMap((html) =>
        [...html.matchAll(/(?:src|href)="(\/[^"?]+\.(?:js|css))"/g)].flatMap(([, file]) => file ?? []),
      ),
    ),
  ]
  const more = [
    '/tarteaucitronjs/css/tarteaucitron.css',
    '/cookie-consent-js/cookie-consent-content/en.json',
    ...readdirSync(new URL(`.${PORSCHE}`, modules)).flatMap((file) => (file.endsWith('.js') ? `${PORSCHE}${file}` : [])),
    '/tarteaucitronjs/lang/tarteaucitron.en.js',
    '/tarteaucitronjs/tarteaucitron.services.js',
  ]
  return {
    ...Object.fromEntries(Object.entries(BANNER_PAGES).map(([name, html]) => [`/${name}`, html])),
    ...Object.fromEntries([...files, ...more].map((file) => [file, serveModule(file)])),
    '/plain': PLAIN,
    '/index.html': SOURCEPOINT_FRAME,
  }
}

const serveModule =
  (file: string): Pages[string] =>
  (_, response) => {
    response.writeHead(200, { 'content-type': TYPES[file.split('.').at(-1) ?? ''] ?? 'text/plain' })
    response.end(readFileSync(new URL(`.${file}`, modules)))
  }
