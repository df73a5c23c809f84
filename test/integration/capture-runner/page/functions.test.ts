import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type { PageFunctionName, PageFunctions } from '../../../../capture-runner/src/page/functions.ts'
import { sources } from '../../../../capture-runner/src/page/generated/sources.ts'
import { bundleProgram } from '../../../cluster/images/bundle.ts'
import { type OpenDocument, openLab, WINDOW } from './lab.ts'
import { FRAME, oddDocuments } from './odd-documents.ts'

// Page functions in a real page, where no picture shows their result as clearly. A new function needs a case, or a file whose captures show its effect.

const open = await openLab(t)

type Step = (t: Test, document: OpenDocument) => Promise<unknown>
type Arguments<Name extends PageFunctionName> = Parameters<PageFunctions[Name]>
/** A document, and what to do in it. */
type Case = readonly [html: string, ...steps: Step[]] | { html?: string; run: Step }

const calls =
  <Name extends PageFunctionName>(name: Name, ...values: Arguments<Name>): Step =>
  (_, { call }) =>
    call(name, ...values)
const gives =
  <Name extends PageFunctionName>(name: Name, values: Arguments<Name>, result: unknown, why: string = name): Step =>
  async (t, { call }) =>
    t.strictSame(await call(name, ...values), result, why)
/** The same for a part of the result. */
const matches =
  <Name extends PageFunctionName>(name: Name, values: Arguments<Name>, result: object, why: string = name): Step =>
  async (t, { call }) =>
    t.match(await call(name, ...values), result, why)
/** Runs a script of the page. */
const runs =
  (script: string): Step =>
  (_, { read }) =>
    read(script)
/** Calls a function with the closed roots of these elements. */
const callsWithRoots =
  (name: PageFunctionName, selector: string): Step =>
  async (_, { session, contextId }) => {
    const { root } = await session.send('DOM.getDocument')
    const { nodeIds } = await session.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector })
    const roots: { objectId: string }[] = []
    for (const nodeId of nodeIds) {
      const { node } = await session.send('DOM.describeNode', { nodeId, pierce: true })
      const backendNodeId = node.shadowRoots?.[0]?.backendNodeId ?? 0
      const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId: contextId })
      roots.push({ objectId: object.objectId ?? '' })
    }
    await session.send('Runtime.callFunctionOn', {
      functionDeclaration: sources[name],
      arguments: roots,
      executionContextId: contextId,
    })
  }
/** Compares the value of an expression in the page. */
const shows =
  (expression: string, value: unknown, why = expression): Step =>
  async (t, { read }) =>
    t.strictSame(await read(expression), value, why)

const TEXT = '<p>text</p>'
const TALL = '<div style="height:3000px">tall</div>'
const SQUARE = '<div id="one" class="square" style="position:absolute;left:100px;top:50px;width:30px;height:40px">one</div>'

const STILL = { hasChanges: false, hasGrown: false, animations: 0, endless: 2, canvases: 1, marquees: 1, hasDrawnImages: false }

const styleOf = (selector: string, property: string): string => `getComputedStyle(document.querySelector('${selector}')).${property}`

/** Functions whose effect captures show, by the file in test/integration. */
const CAPTURED = {
  'capture-runner/clocks': ['nextFrame'],
  'capture-runner/effects': ['keepEffects', 'noteEffects'],
  'capture-runner/navigation': ['openHere', 'readUrl'],
  'capture-runner/page/contents': ['findBrokenRule', 'readText'],
  'capture-runner/pdf-urls': ['showPdf', 'readPdfOutcome'],
  'options/invalid': ['findSelectorFault', 'findUnknownFeatures', 'hasNoRule', 'readTransparency'],
  'options/output/extra-files': ['readHtml', 'redactMatches', 'rememberClosedRoots', 'takePasswords'],
  'options/output/full-page': ['hideFixed', 'scrollWindow'],
  'options/output/full-page-reveal': ['restoreSectionLinks'],
  'options/output/image-processing': ['readNotes'],
  'options/output/page-contents': ['readLinks'],
  'options/output/pdf': ['findLoader'],
  'options/page/blocking': ['clickBannerButton', 'countElements', 'hideBanners'],
  'options/page/identity': ['refuseServiceWorkers', 'removeSharedWorkers'],
  'options/page/inner-panels': ['unfold', 'unpinHeights'],
  'options/page/locked-pages': ['findFolded', 'unlock'],
  'options/page/preparing': ['addSheet', 'hideInShadow', 'endAnimations', 'rewindMedia'],
  'options/page/waiting': ['countChanges', 'readDocumentFacts', 'looksChallenged'],
  'options/page/without-scripts': ['scrollToPosition', 'scrollToTop', 'scrollToMiddle', 'showNextMiddle'],
} as const satisfies Record<string, readonly PageFunctionName[]>
/** The end of this file has tests of these with more than one page. */
type Tabled = 'coverMatches' | 'findScroller' | 'hasPlayingSound' | 'isSeeking' | 'scrollScroller'
type Captured = (typeof CAPTURED)[keyof typeof CAPTURED][number]

const cases: Record<Exclude<PageFunctionName, Captured | Tabled>, Case> = {
  adjustGlobals: {
    run: async (t, { call, readInside }) => {
      await call('adjustGlobals', { width: 8, height: 85 })
      const expression = `(() => {
        const { get, set, ...rest } = Object.getOwnPropertyDescriptor(globalThis, 'outerWidth')
        const errorOf = (run) => { try { run() } catch ({ name, message }) { return name + ': ' + message } }
        const facts = {
          more: [outerWidth - screen.width, outerHeight - screen.height], rest: { ...rest, set: typeof set },
          texts: [String(get), Function.prototype.toString + '', get.name + get.length, 'prototype' in get],
          errors: [errorOf(() => get.call({})), errorOf(() => new get()), errorOf(() => Function.prototype.toString.call(1))],
        }
        outerWidth = 7
        return { ...facts, replaced: outerWidth }
      })()`
      t.strictSame(await readInside(expression), {
        more: [8, 85],
        rest: { enumerable: true, configurable: true, set: 'function' },
        texts: ['function get outerWidth() { [native code] }', 'function toString() { [native code] }', 'get outerWidth0', false],
        errors: [
          'TypeError: Illegal invocation',
          'TypeError: get is not a constructor',
          "TypeError: Function.prototype.toString requires that 'this' be a Function",
        ],
        replaced: 7,
      })
    },
  },
  advanceAnimations: [
    `<style>@keyframes grow { to { width: 200px } } #one { width: 100px; animation: grow 10s linear, grow 1s infinite }</style><div id="one"></div><canvas></canvas><marquee>news</marquee>
      <svg><rect><animate attributeName="x" values="10;20" dur="1s" repeatCount="indefinite"/><animate attributeName="y" begin="click" dur="1s"/></rect></svg>`,
    gives('advanceAnimations', [0, 20_000], { ...STILL, hasGrown: true, animations: 1 }),
    runs("document.body.append('more')"),
    gives('advanceAnimations', [20_000, 20_000], { ...STILL, hasChanges: true, hasGrown: true }),
    runs("document.body.insertAdjacentHTML('beforeend', '<img src=/logo.svg><b id=two></b>')"),
    matches('advanceAnimations', [0, 20_000], { hasDrawnImages: true, hasGrown: true }),
    runs("two.append('one word ')"),
    matches('advanceAnimations', [0, 20_000], { hasGrown: true }),
    runs("two.append('more ')"),
    matches('advanceAnimations', [0, 20_000], { hasGrown: true }, 'a text that is added is shorter than the one before'),
    runs("two.textContent = '12:00:00 today.'"),
    matches('advanceAnimations', [0, 20_000], { hasGrown: true }),
    runs("two.textContent = '12:00:01 today.'"),
    calls('advanceAnimations', 0, 20_000),
    runs("two.textContent = '12:00:02 today.'"),
    matches('advanceAnimations', [0, 20_000], { hasGrown: false }),
  ],
  collapseBlocked: [
    '<img src="http://page.test/a.png"><img src="http://page.test/b.png">',
    calls('collapseBlocked', ['http://page.test/a.png']),
    shows('[...document.images].map((image) => getComputedStyle(image).display)', ['none', 'inline']),
  ],
  countLoading: [
    '<input value="text"><script>document.querySelector("input").focus()</script>',
    gives('countLoading', [1_000], 0),
    shows(styleOf('input', 'caretColor'), 'rgba(0, 0, 0, 0)'),
  ],
  findAreas: [
    '<style>body { margin: 0 }</style><p style="width:400px;height:300px;margin:0">text</p>',
    gives('findAreas', [['p', '.absent']], [{ left: 0, top: 0, right: 0.5, bottom: 0.5 }]),
  ],
  findIgnoredBoxes: [
    `${SQUARE}${TALL}<details><summary>more</summary><p class="closed">text</p></details>`,
    runs('scrollTo(0, 20)'),
    gives('findIgnoredBoxes', [['#one', '.absent']], [[{ x: 100, y: 50, width: 30, height: 40 }], []]),
    gives('findIgnoredBoxes', [['.closed']], [[]], 'the browser lays out what it leaves out, if a script asks for its boxes'),
  ],
  findMovingAreas: [
    '<style>body { margin: 0 }</style><video style="display:block;width:400px;height:300px"></video>',
    gives('findMovingAreas', [], [{ left: 0, top: 0, right: 0.5, bottom: 0.5 }]),
  ],
  findPresence: {
    html: `<p class="one">text</p><p class="two" hidden>text</p><details><summary class="sum">more</summary><b class="three">text</b></details>
      <dialog class="four">text</dialog><p hidden="until-found"><b class="five">text</b></p><p class="six" style="display:contents">text</p>`,
    run: async (t, { call }) => {
      t.equal(await call('findPresence', '.one', {}), 'there')
      t.equal(await call('findPresence', '.none', {}), 'absent')
      const reasons = { two: 'hidden', sum: 'there', three: 'details', four: 'dialog', five: 'skipped', six: 'there' }
      for (const [name, reason] of Object.entries(reasons)) t.equal(await call('findPresence', `.${name}`, {}), reason, name)
      t.equal(await call('findPresence', '.two', { isVisible: false }), 'there')
      t.equal(await call('findPresence', 'p', { isVisible: false, count: 5 }), 'absent')
    },
  },
  findRegions: {
    run: async (t, { call, read }) => {
      const frame = `<iframe style="width:300px;height:200px;border:10px solid;transform:scale(0.5);transform-origin:0 0" srcdoc='<body style="margin:0"><p id="inner" style="margin:20px;width:100px;height:40px">text</p>'></iframe>`
      await read(
        `document.body.innerHTML = ${JSON.stringify(frame)}, new Promise((loaded) => { document.querySelector('iframe').onload = loaded })`,
      )
      const [{ painted } = {}] = await call('findRegions', { selector: '#inner', all: false })
      t.strictSame(painted, { x: 23, y: 23, width: 50, height: 20 }, 'in a frame of half its size')
      await read(
        `document.body.innerHTML = '<svg width="400" height="400" viewBox="0 0 200 200" style="position:absolute;left:0;top:0"><g id="part"><defs><rect stroke="red" width="190" height="190"/></defs><rect stroke="red" display="none" width="200" height="200"/><path stroke="red" stroke-width="10" d="M20 50 H80"/><rect x="30" y="60" width="20" height="10"/></g></svg><ruby style="position:absolute;top:500px">m<rt style="font-size:60px">a</rt></ruby>'`,
      )
      const [{ painted: stroked } = {}] = await call('findRegions', { selector: '#part', all: false })
      t.strictSame(stroked, { x: 30, y: 90, width: 140, height: 50 }, 'the strokes of a part of a drawing')
      const [{ painted: letters } = {}] = await call('findRegions', { selector: 'ruby', all: false })
      t.ok(letters && letters.height > 60, 'the letters above a word')
    },
  },
  findShownImages: {
    html: `<i style="display:block;height:9px;background:url(http://page.test/a.png)"></i><u style="display:none;background:url(http://page.test/b.png)"></u>
      <svg width="9" height="9"><pattern id="dots"><image href="http://page.test/d.png" /></pattern></svg>`,
    run: async (t, { call }) => {
      const urls = ['a', 'b', 'c', 'd'].map((name) => `http://page.test/${name}.png`)
      t.strictSame(await call('findShownImages', urls, 1_000), [urls[0], urls[3]])
    },
  },
  freezeScrollAnimations: {
    html: `<style>@keyframes fade { from { opacity: 0 } to { opacity: 1 } }
      #one { height: 100px; margin-top: 1000px; animation: fade linear both; animation-timeline: view() }
      #two { height: 100px; animation: fade linear both; animation-timeline: scroll(root); animation-range: 450px 1250px }
      #bar { position: fixed; animation: fade linear both; animation-timeline: scroll(root) }</style>
      <div id="one"></div><div id="two"></div><div id="bar"></div>${TALL}`,
    run: async (t, { call, read }) => {
      await call('freezeScrollAnimations', WINDOW.height)
      t.equal(await read(styleOf('#one', 'opacity')), '0.5')
      t.match(await read(styleOf('#two', 'opacity')), /^0\.5/, 'in the middle of the window after 850 px')
      t.equal(await read(styleOf('#bar', 'opacity')), '0')
    },
  },
  hasInlineScript: [
    '<script>requestIdleCallback(() => {})</script>',
    gives('hasInlineScript', ['indexedDB|requestIdleCallback'], true),
    gives('hasInlineScript', ['indexedDB'], false),
  ],
  findLostEffects: [
    '<button id="one">one</button><p id="two" hidden>two</p><p id="three">three</p>',
    calls('noteEffects'),
    runs("one.focus(), two.hidden = false, two.title = 'new', three.style.opacity = '.5'"),
    calls('keepEffects', 'click'),
    runs("two.removeAttribute('title'), dispatchEvent(new Event('resize'))"),
    gives('findLostEffects', [], [], 'nobody sees the attribute'),
    runs("two.style.display = 'none', dispatchEvent(new Event('resize'))"),
    gives('findLostEffects', [], [{ action: 'click', isWhole: false, isCertain: true, hasReturned: false, elements: ['#two'] }]),
    runs("three.style.opacity = 1, dispatchEvent(new Event('resize'))"),
    matches('findLostEffects', [], [{ isWhole: true }]),
    runs("two.style.display = '', three.style.opacity = '.5'"),
    gives('findLostEffects', [], []),
  ],
  findPointed: {
    html: '<div id="outer"><p id="one">text</p></div>',
    run: async (t, { call }) => t.equal((await call('findPointed', '#one')).length, 4),
  },
  forgetEndedEffects: [
    TEXT,
    calls('noteEffects'),
    runs("document.body.style.color = 'red'"),
    calls('keepEffects', 'scripts'),
    runs("document.body.style.color = ''"),
    calls('forgetEndedEffects'),
    runs("dispatchEvent(new Event('resize'))"),
    gives('findLostEffects', [], []),
  ],
  findWiderPart: {
    html: `<div style="width:300px;overflow:auto"><div style="width:2000px;height:600px">a list beside the content</div></div>
      <div style="scroll-snap-type:x mandatory;overflow-x:auto"><div style="width:2000px;height:600px">a slideshow</div></div>
      <div id="board" style="width:700px;overflow-x:auto"><div style="width:1500px;height:600px">columns</div></div>`,
    run: async (t, { call, read }) => {
      t.strictSame(await call('findWiderPart'), { part: 'div#board', width: 700, whole: 1_500 })
      await read("board.style.overflow = 'hidden'")
      t.equal(await call('findWiderPart'), null, 'no reader can scroll it')
      for (const inner of [
        '<div style="width:900px;height:10px">',
        '<body style="margin:0"><main style="overflow:auto"><div style="width:900px;height:450px">',
      ]) {
        await read(`board.outerHTML = '<iframe id="board" style="width:700px;height:500px;border:0"></iframe>'`)
        await read(
          `board.contentDocument.write('<!doctype html><html dir="rtl"><style>body { margin: 0 }</style>' + ${JSON.stringify(inner)}), board.contentDocument.close()`,
        )
        t.match(await call('findWiderPart'), { width: 700, whole: 900 }, `in a frame that is read from the right: ${inner}`)
      }
    },
  },
  hidesSides: [
    '<body style="overflow-x:hidden">wide',
    gives('hidesSides', [], true),
    runs("document.documentElement.style.overflow = 'auto'"),
    gives('hidesSides', [], false, 'the root element decides'),
  ],
  hidesTop: [
    '<body style="margin:0"><div id="one" style="height:600px">text</div>',
    gives('hidesTop', [], false),
    runs("one.style.opacity = '0'"),
    gives('hidesTop', [], true),
    runs("one.style.position = 'fixed'"),
    gives('hidesTop', [], false, 'a message above the page'),
  ],
  isolateElements: {
    html: `<main>${SQUARE}</main>`,
    run: async (t, { call, read }) => {
      // What a component shows beside the element in its slot.
      await read("document.querySelector('#one').parentNode.attachShadow({ mode: 'open' }).innerHTML = '<h1>beside</h1><slot></slot>'")
      await call('isolateElements', { selector: '#one', all: false })
      t.equal(await read("getComputedStyle(document.querySelector('main').shadowRoot.querySelector('h1')).opacity"), '0')
    },
  },
  keepScriptingRules: [
    `<style>@media (scripting: none) { #one { width: 10px } } @media (scripting: enabled) { #one { height: 20px } }</style>
      <div id="one"></div><noscript>Scripts are off.</noscript>`,
    calls('keepScriptingRules'),
    shows('[...document.styleSheets[0].cssRules].map(({ media }) => media.mediaText).join()', 'not all,all'),
    shows(styleOf('noscript', 'display'), 'none'),
  ],
  leaveOutMatches: [
    '<div id="one">a<b style="visibility:visible">b</b></div>',
    gives('leaveOutMatches', [['#one', '.absent']], [1, 0]),
    shows(styleOf('#one b', 'visibility'), 'hidden'),
  ],
  countSearchable: {
    html: `<!-- a < b --><div id="plain">a &lt; b</div><template><b>x</b></template><details><summary>x</summary>y</details><video controls></video><input type="date"><svg><use href="#plain"/></svg>
      <iframe srcdoc="<p>a"></iframe><marquee>m</marquee><script>"<"</script><style>p::before { content: "<" }</style><x-open></x-open>
      <script>document.querySelector('x-open').attachShadow({ mode: 'open' }).innerHTML = '<i>1 &lt; 2</i>'; document.prepend(document.createComment('<'))</script>`,
    run: async (t, { call, read, session }) => {
      const search = async () => {
        await session.send('DOM.enable')
        return (await session.send('DOM.performSearch', { query: '' })).resultCount
      }
      t.equal(await call('countSearchable'), await search(), 'a page without closed roots')
      await read("plain.attachShadow({ mode: 'closed' }).innerHTML = '<i></i>text'")
      t.equal((await search()) - (await call('countSearchable')), 2, 'a closed root with an element and a text')
    },
  },
  returnPasswords: [
    '<input id="a" type="password" value="one"><input id="b" type="password" value="one">',
    calls('takePasswords'),
    runs("a.value = 'two'"),
    calls('returnPasswords'),
    shows('[a.value, b.value]', ['two', 'one'], 'what a script writes meanwhile stays'),
  ],
  moveBars: {
    html: `<i id="bar" style="position:fixed;bottom:10px;height:20px">bar</i><i id="head" style="position:fixed;top:0;height:20px">head</i>
      <i id="back" style="position:fixed;bottom:0;width:100%;height:100vh;z-index:-1;background:red"></i><i id="veil" style="position:fixed;inset:0;background:red"></i>
      <i id="modal" style="position:fixed;inset:0;background:red">text</i><b style="anchor-name:--one;position:absolute;top:1500px">one</b>
      <i id="beside" style="position:fixed;position-anchor:--one;position-area:top">beside</i><dialog>text</dialog><script>document.querySelector('dialog').showModal()</script>`,
    run: async (t, { call, read }) => {
      await call('moveBars', { up: 0, down: 1_000 })
      const sides = '[back, veil, modal].flatMap((one) => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom] })'
      t.strictSame(await read(sides), [0, 1_600, 0, 1_600, 0, 600], 'layers behind and above the page')
      t.equal(await read("getComputedStyle(document.querySelector('dialog'), '::backdrop').height"), '1600px')
      t.equal(await read('beside.getBoundingClientRect().bottom'), 1_500)
      t.strictSame(await read('[bar, head].map((one) => one.getBoundingClientRect().top)'), [1_570, 0])
      await read(
        "document.querySelector('dialog').close(), document.body.style.zoom = .5, bar.removeAttribute('style'), bar.style = 'position:fixed;bottom:10px;height:20px'",
      )
      await call('moveBars', { up: 0, down: 1_000 })
      t.equal(await read('bar.getBoundingClientRect().top'), 1_585, 'in a page with another zoom')
    },
  },
  muteMedia: ['<video id="media"></video>', calls('muteMedia'), shows("media.dispatchEvent(new Event('play')), media.muted", true)],
  nameElements: {
    html: `<style>body, p { margin: 0 } div { width: 200px; height: 100px }</style><main><div id="one"><p>text</p></div><div class="two"></div>
      <div></div><div style="visibility:hidden"><i style="display:block;height:100px"></i></div></main>`,
    run: async (t, { call }) => {
      const line = (top: number) => ({ left: 0.05, right: 0.2, top: (top + 10) / 600, bottom: (top + 90) / 600 })
      const areas = [0, 100, 200, 300].map(line)
      t.strictSame(await call('nameElements', areas, 0), ['#one', 'div.two', 'main > div:nth-of-type(3)', null])
      t.strictSame(await call('nameElements', [{ left: 0, top: 0.1, right: 1, bottom: 0.2 }], 0), [null], 'only the whole page contains it')
    },
  },
  noteSectionLinks: [
    '<li><a href="#one" class="here">one</a></li><p id="one"></p>',
    calls('noteSectionLinks'),
    runs("document.querySelector('a').className = '', document.querySelector('li').setAttribute('aria-current', 'true')"),
    calls('restoreSectionLinks'),
    shows("document.querySelector('li').outerHTML", '<li><a href="#one" class="here">one</a></li>'),
  ],
  noteShifts: {
    html: `<style>body { margin: 0 } #two { transform: translateY(calc(var(--top) * 0.25px)) }</style><div style="height:1000px"></div><div style="height:600px"><p id="one" style="margin:0;transform:translateY(0px)">text</p>
      <p id="two" style="margin:0">text</p></div>${TALL}`,
    run: async (t, { call, read }) => {
      for (const top of [0, 500, 1_000]) {
        await read(
          `scrollTo(0, ${top}), one.style.transform = 'translateY(${top / 4}px)', document.body.style.setProperty('--top', ${top})`,
        )
        await call('noteShifts')
      }
      await read("scrollTo(0, 0), one.style.transform = 'translateY(9000px)', document.body.style.setProperty('--top', 9000)")
      await call('placeShifted')
      t.equal(await read('new DOMMatrix(getComputedStyle(one).transform).m42'), 250)
      t.equal(await read('new DOMMatrix(getComputedStyle(two).transform).m42'), 250, 'by a variable of an element around it')
    },
  },
  pinHeights: {
    html: `<div id="one" style="height:100vh"></div><svg id="two" style="height:100vh;border:2px solid"></svg>${TALL}`,
    run: async (t, { page, call, read }) => {
      t.equal((await call('prepareReveal', 100)) > 3_000, true)
      await page.setViewportSize({ ...WINDOW, height: 1_200 })
      await read("document.body.style.height = '4000px'")
      await call('pinHeights')
      t.strictSame(await read('[one, two].map((element) => element.getBoundingClientRect().height)'), [600, 604])
      await call('unpinHeights', true)
      t.equal(await read(styleOf('#one', 'height')), '1200px')
      t.equal(await read('document.body.style.height'), '', 'a height that a script set for the taller window')
      await page.setViewportSize(WINDOW)
    },
  },
  placeShifted: [
    `<p id="one" style="transform:translateY(9px)">text</p>${TALL}`,
    calls('noteShifts'),
    calls('placeShifted'),
    shows('one.style.transform', 'translateY(9px)'),
  ],
  prepareReveal: [
    `<div id="one" style="content-visibility:auto">text</div><div id="two" style="height:100px;overflow:auto">text</div>${TALL}`,
    calls('prepareReveal', 100),
    shows(styleOf('#one', 'contentVisibility'), 'visible'),
    runs("two.style.height = '900px'"),
    calls('prepareReveal', 100),
    shows(styleOf('#two', 'height'), '900px', 'a part that a script made taller in the page’s own window'),
  ],
  placeOfPointed: [
    `<p id="one">text</p>${TALL}<p id="two">text</p><p id="three" hidden>text</p>`,
    gives('placeOfPointed', ['#one'], 'inside'),
    gives('placeOfPointed', ['#two'], 'outside'),
    gives('placeOfPointed', ['#three'], 'absent'),
  ],
  readExtent: [
    '<body style="margin:0"><div style="height:900px"></div>',
    gives('readExtent', [], { ...WINDOW, scrollHeight: 900 }),
    runs(`document.body.innerHTML = '<div style="height:100vh;overflow:auto"><p style="height:2000px;margin:0">tall</p></div>'`),
    gives('readExtent', [], { ...WINDOW, scrollHeight: 2_000 }),
  ],
  readPageFacts: {
    html: '<p id="one" class="a b"><a href="/next">next</a>',
    run: async (t, { call }) => {
      const facts = { url: 'http://page.test/', ids: ['one'], classes: ['a', 'b'], hrefs: ['/next'] }
      t.strictSame(await call('readPageFacts', 100), facts)
    },
  },
  readStart: [
    '<body style="margin:0"><div style="width:2000px">wide</div>',
    gives('readStart', [], 0),
    runs("document.body.style.direction = 'rtl'"),
    gives('readStart', [], 1_200),
    runs("document.documentElement.style.writingMode = document.body.style.writingMode = 'vertical-lr'"),
    gives('readStart', [], 0, 'columns are read from the left'),
  ],
  refuseWebSockets: {
    run: async (t, { call, readInside }) => {
      await call('refuseWebSockets')
      const expression = `new Promise((end) => { const socket = new WebSocket('ws://page.test/'); socket.onclose = ({ code }) => end([code, socket.readyState, WebSocket.OPEN]) })`
      t.strictSame(await readInside(expression), [1006, 3, 1])
    },
  },
  // The cursor is hidden in the first half of its round. Of the slides, one is.
  restAnimations: {
    html: `<style>@keyframes grow { to { width: 200px } } div { width: 100px; animation: grow 1s linear infinite } #two { animation-delay: -0.5s } #three { animation-play-state: paused }
      @keyframes blink { from { opacity: 0 } 50% { opacity: 1 } } #cursor { animation: blink 1s step-end infinite }
      @keyframes slide { from { opacity: 0 } 50% { opacity: 1 } } .slide { animation: slide 1s step-end infinite } .slide + .slide { animation-delay: -0.5s }</style>
      <div id="one"></div><div id="two"></div><div id="three"></div><div id="cursor"></div><div class="slide"></div><div class="slide"></div>
      <svg><rect id="rect"><animate attributeName="x" from="0" to="1000" dur="1s" repeatCount="indefinite"/></rect></svg>`,
    run: async (t, { call, read }) => {
      for (let time = 0; time < 2; time++) {
        await call('restAnimations', 2_000)
        t.strictSame(await read('[one, two, three].map((div) => getComputedStyle(div).width)'), ['114px', '164px', '100px'])
        t.strictSame(await read("[...document.querySelectorAll('#cursor, .slide')].map((div) => getComputedStyle(div).opacity)"), [
          '1',
          '0',
          '1',
        ])
        t.equal(await read('Math.round(rect.x.animVal.value)'), 140)
      }
    },
  },
  restInMarquees: [
    '<style>marquee { display: block; width: 400px } i { position: relative; display: inline-block; width: 100px }</style><marquee><i id="one">x</i></marquee><marquee behavior="Slide"><i id="two">x</i></marquee>',
    callsWithRoots('restInMarquees', 'marquee'),
    shows('[one, two].map((one) => one.getBoundingClientRect().x - one.parentElement.getBoundingClientRect().x)', [150, 0]),
  ],
  restOfAction: {
    run: async (t, { call, read }) => {
      await call('noteEffects')
      await read("document.body.title = 'x'")
      t.ok((await call('restOfAction')) < 10_000)
      await read('document.body.animate({ opacity: [0, 1] }, 60_000)')
      t.equal(await call('restOfAction'), 0)
    },
  },
  shiftDown: [
    '<body style="margin:0"><p id="one" style="margin:0">text</p>',
    calls('shiftDown', 200),
    shows('one.getBoundingClientRect().y', 200),
    calls('shiftDown', 0),
    shows('one.getBoundingClientRect().y', 0),
  ],
  showMiddle: [
    `${SQUARE}<body style="margin:0"><div style="width:100px;height:20px;overflow:hidden"><p id="cut" style="width:600px;height:200px;margin:0">text</p></div>
      <div style="height:0" id="around"><p style="float:left;width:60px;height:40px;margin:0;background:red;clip-path:inset(0 0 20px)">text</p></div>`,
    gives('showMiddle', ['#one'], { x: 115, y: 70 }),
    gives('showMiddle', ['#cut'], { x: 50, y: 10 }, 'of what is shown'),
    gives('showMiddle', ['#around'], { x: 30, y: 30 }),
  ],
  restoreFocus: [
    '<input id="one">',
    calls('noteEffects'),
    runs('one.focus()'),
    calls('keepEffects', 'click'),
    runs("one.blur(), dispatchEvent(new Event('resize'))"),
    calls('restoreFocus'),
    shows('document.activeElement.id', 'one'),
  ],
  startClock: {
    run: async (t, { call, readInside }) => {
      const start = Date.UTC(2026, 0, 15, 12)
      await call('startClock', start)
      const texts =
        "[new Date().toISOString(), Temporal.Now.instant().toString(), Date(), new Intl.DateTimeFormat('en').format()].map((text) => text.slice(0, 15))"
      const expression = `({ ahead: Date.now() - ${start}, texts: ${texts}, isDate: new Date(5) instanceof Date, kept: +new Date(5), origin: performance.timeOrigin < ${start} })`
      const { ahead, ...facts } = (await readInside(expression)) as { ahead: number }
      t.ok(ahead >= 0 && ahead < 60_000, `${ahead}`)
      t.strictSame(facts, {
        texts: ['2026-01-15T12:0', '2026-01-15T12:0', 'Thu Jan 15 2026', '1/15/2026'],
        isDate: true,
        kept: 5,
        origin: true,
      })
      await readInside('new Promise((resolve) => setTimeout(resolve, 30))')
      t.ok(Number(await readInside(`Date.now() - ${start}`)) >= ahead + 29, 'the clock runs')
    },
  },
  whenIdle: {
    run: async (t, { call, session, read }) => {
      const expression = 'for (let each = 1; each <= 3; each++) requestIdleCallback(() => { document.title = each })'
      await session.send('Runtime.evaluate', { expression })
      await call('whenIdle')
      t.equal(await read('document.title'), '3')
    },
  },
  writeStorage: [
    TEXT,
    runs("localStorage.setItem('a', 'kept')"),
    calls('writeStorage', 'http://page.test', { a: 'new', b: 'new' }),
    shows("[localStorage.getItem('a'), localStorage.getItem('b')]", ['kept', 'new']),
  ],
}

for (const [name, each] of Object.entries(cases)) {
  const [html, ...steps] = 'run' in each ? [each.html ?? TEXT, each.run] : each
  t.test(`page function ${name}`, async (t) => {
    const document = await open(/<(!doctype|html)/i.test(html) ? html : `<!doctype html>${html}`)
    for (const step of steps) await step(t, document)
  })
}

const PANEL = 'height:600px;overflow-y:auto'
const TALL_FRAME = `<iframe style="position:fixed;inset:0;width:100%;height:100%" srcdoc="<body style='margin:0'>${TALL.replaceAll('"', "'")}"></iframe>`

/** Pages whose video must scroll by 2400 pixels, and where it is scrolled. */
const SCROLLED: Record<string, readonly [html: string, where: string]> = {
  'a page that snaps': [
    `<style>html { scroll-snap-type: y mandatory } div { height: 600px; scroll-snap-align: start }</style>${'<div></div>'.repeat(5)}`,
    'scrollY',
  ],
  'a panel that snaps': [
    `<main id="panel" style="${PANEL};scroll-snap-type:y mandatory">${'<div style="height:600px;scroll-snap-align:start"></div>'.repeat(5)}</main>`,
    'panel.scrollTop',
  ],
  'a panel below a header, so that the page scrolls a little': [
    `<header style="height:60px"></header><main id="panel" style="${PANEL}">${TALL}</main>`,
    'panel.scrollTop',
  ],
  'a panel beside an open menu that nobody sees': [
    `<main id="panel" style="height:500px;overflow-y:auto"><div style="height:2900px"></div></main>
    <nav style="position:fixed;inset:0;overflow-y:auto;opacity:0;pointer-events:none">${TALL}</nav>`,
    'panel.scrollTop',
  ],
  'a panel in a box that scrolls by a border': [
    `<div style="height:600px;overflow:auto"><div style="height:604px"><main id="panel" style="${PANEL}">${TALL}</main></div></div>`,
    'panel.scrollTop',
  ],
  'a page in a frame': [TALL_FRAME, 'frames[0].scrollY'],
  'a panel in a frame': [
    `<iframe style="position:fixed;inset:0;width:100%;height:100%;border:0" srcdoc="<body style='margin:0'><main style='${PANEL}'>${TALL.replaceAll('"', "'")}</main>"></iframe>`,
    'frames[0].document.querySelector("main").scrollTop',
  ],
}

for (const [name, [html, where]] of Object.entries(SCROLLED)) {
  t.test(`a video scrolls ${name}`, async (t) => {
    const { call, read } = await open(`<!doctype html><body style="margin:0">${html}`)
    t.equal((await call('findScroller')).end, 2400)
    await call('scrollScroller', 1234)
    t.equal(await read(where), 1234)
  })
}

t.test('a mask covered what boxes around it hide, and painted no box if the children of its element float', async (t) => {
  const inBox = (style: string, inner: string) => `<div style="height:100px;${style}">${inner}</div>`
  const block = (style = '', name = 'inner') =>
    `<b class="${name}" style="display:block;width:80px;height:40px;background:red;${style}"></b>`
  const { call, read } = await open(`<!doctype html><body style="margin:0">
    <style>.mask b::before { content: 'x'; visibility: visible }</style>
    ${inBox('', `<div class="mask">${block('float:left')}</div>`)}
    ${inBox('', `<div class="mask">${block('position:absolute;margin:10px')}${block('position:fixed;inset:0;opacity:0')}</div>`)}
    ${inBox('', `<p class="mask" style="height:0;margin:0"><canvas width="24" height="40"></canvas></p>`)}
    ${inBox('overflow:hidden;height:30px;margin-bottom:70px', block('', 'mask'))}
    ${inBox('', block('clip-path:inset(10px)', 'mask'))}
    ${inBox('', `<div class="mask" style="height:0;overflow:hidden">${block()}</div>`)}</body>`)
  const boxes = `JSON.stringify([...document.querySelectorAll('[popover] > div')].map((box) => box.getBoundingClientRect()).map(({ x, y, width, height }) => [x, y, width, height]))`
  const expected = [
    [0, 0, 80, 40],
    [10, 110, 80, 40],
    [0, 200, 24, 40],
    [0, 300, 80, 30],
    [10, 410, 60, 20],
  ]
  for (const time of ['at first', 'for the next frame of a video']) {
    t.strictSame(await call('coverMatches', { selectors: ['.mask'], color: 'blue' }), [5], time)
    t.strictSame(JSON.parse(String(await read(boxes))), expected, time)
    const ignored = (await call('findIgnoredBoxes', ['.mask']))[0] ?? []
    t.strictSame(
      ignored.map(({ x, y, width, height }) => [x, y, width, height]),
      expected,
      `areas to ignore ${time}`,
    )
  }
  t.equal(await read("document.querySelector('.mask b').checkVisibility({ opacityProperty: true })"), false, 'generated text is hidden')
})

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

t.test('the image has the sources of page functions that these tests call', async (t) => {
  const dist = t.testdir()
  await bundleProgram('capture-runner', dist)
  const app = join(dist, 'app')
  const scripts = (await readdir(app)).filter((file) => file.endsWith('.mjs'))
  const texts = await Promise.all(scripts.map((file) => readFile(join(app, file), 'utf8')))
  const [, table = ''] = /\bvar sources\w* = (\{[^\n]*\n(?: {2}[^\n]*\n)*\});/.exec(texts.join('\n')) ?? []
  t.strictSame(new Function(`return ${table}`)(), sources)
})
