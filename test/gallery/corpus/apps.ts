import type { Kind, WrittenPage } from './page.ts'
import { DATA, paragraph, photo, text } from './pieces.ts'

type Rest = Omit<WrittenPage, 'name' | 'kind' | 'body'> & { body?: string }
const page = (kind: Kind, name: string, rest: Rest): WrittenPage => ({ name, kind, body: '<div id="app"></div>', ...rest })
const app = (name: string, rest: Rest): WrittenPage => page('app', name, rest)

/** The content of the applications after their items have loaded, as a template of Vue and similar libraries. */
const REACT = ['react/umd/react.production.min.js', 'react-dom/umd/react-dom.production.min.js']
const ITEMS = `const load = async () => (await (await fetch('/slow/250/api/items.json')).json()).items;`
const card = (title: string, price: string, image: string): string =>
  `<section class="card"><h2>${title}</h2><img src="${image}" width="200" height="130"> € ${price}</section>`
const inScript = (name: string): string => `\${item.${name}}`
const literal = card(inScript('title'), inScript('price'), inScript('image'))

const H_LIST = `h('main', null, h('h1', null, 'Everything that floats'), items.length ? items.map((item) => h('section', { className: 'card', key: item.id }, h('h2', null, item.title), h('img', { src: item.image, width: 200, height: 130 }), ' € ', item.price)) : h('p', null, 'Loading …'))`

export const apps: readonly WrittenPage[] = [
  app('react', {
    load: REACT,
    run: `${ITEMS} const h = React.createElement; function App() { const [items, set] = React.useState([]); React.useEffect(() => { load().then(set) }, []); return ${H_LIST} } ReactDOM.createRoot(app).render(h(App))`,
  }),
  app('react-skeleton', {
    load: REACT,
    body: '<style>.bone{height:220px;margin:24px;border-radius:10px;background:linear-gradient(90deg,#eee,#ddd,#eee);background-size:200%;animation:s 1.2s infinite}@keyframes s{to{background-position:-200%}}</style><div id="app"></div>',
    run: `${ITEMS} const h = React.createElement; function App() { const [items, set] = React.useState([]); React.useEffect(() => { setTimeout(() => load().then(set), 400) }, []); return items.length ? ${H_LIST} : h('div', null, h('div', { className: 'bone' }), h('div', { className: 'bone' })) } ReactDOM.createRoot(app).render(h(App))`,
  }),
  app('react-lazy-list', {
    load: REACT,
    run: `const h = React.createElement; function Item({ id }) { const [item, set] = React.useState(); const ref = React.useRef(); React.useEffect(() => { const o = new IntersectionObserver(async ([e]) => { if (!e.isIntersecting) return; o.disconnect(); const { items } = await (await fetch('/slow/150/api/items.json?' + id)).json(); set(items[id % items.length]) }); o.observe(ref.current) }, []); return h('section', { ref, className: 'card' }, item ? [h('h2', null, id + 1 + '. ' + item.title), h('img', { src: item.image, width: 200, height: 130 })] : 'Loading …') }
    ReactDOM.createRoot(app).render(h('main', null, Array.from({ length: 15 }, (_, id) => h(Item, { id, key: id }))))`,
  }),
  app('vue', {
    load: ['vue/dist/vue.global.prod.js'],
    run: `${ITEMS} Vue.createApp({ data: () => ({ items: [] }), async mounted() { this.items = await load() }, template: \`<main><h1>Everything that floats</h1><p v-if="!items.length">Loading …</p><section class="card" v-for="item of items"><h2>{{ item.title }}</h2><img :src="item.image" width="200" height="130"> € {{ item.price }}</section></main>\` }).mount('#app')`,
  }),
  app('vue-transition', {
    load: ['vue/dist/vue.global.prod.js'],
    body: '<style>.f-enter-active{transition:all .9s ease}.f-enter-from{opacity:0;transform:translateY(40px)}</style><div id="app"></div>',
    run: `${ITEMS} Vue.createApp({ data: () => ({ items: [] }), async mounted() { this.items = await load() }, template: \`<main><h1>Everything that floats</h1><TransitionGroup name="f"><section class="card" v-for="item of items" :key="item.id"><h2>{{ item.title }}</h2><img :src="item.image" width="200" height="130"></section></TransitionGroup></main>\` }).mount('#app')`,
  }),
  app('element-plus', {
    load: ['element-plus/dist/index.css', 'vue/dist/vue.global.prod.js', 'element-plus/dist/index.full.min.js'],
    run: `${DATA} Vue.createApp({ data: () => ({ rows, wait: true }), mounted() { setTimeout(() => { this.wait = false }, 600) }, template: \`<main><el-alert title="The harbor is open" type="success"/><el-table v-loading="wait" :data="rows"><el-table-column prop="month" label="Month"/><el-table-column prop="value" label="Boats"/><el-table-column prop="other" label="Fish"/></el-table><el-progress :percentage="70"/><el-rate :model-value="4"/></main>\` }).use(ElementPlus).mount('#app')`,
  }),
  app('antd', {
    load: ['antd/dist/reset.css', ...REACT, 'dayjs/dayjs.min.js', 'antd/dist/antd.min.js'],
    run: `${DATA} const h = React.createElement, A = antd; ReactDOM.createRoot(app).render(h('main', null, h(A.Alert, { message: 'The harbor is open', type: 'success', showIcon: true }), h(A.Tabs, { items: [{ key: 1, label: 'Boats', children: h(A.Table, { rowKey: 'month', dataSource: rows, columns: ['month', 'value', 'other'].map((dataIndex) => ({ title: dataIndex, dataIndex })) }) }] }), h(A.Progress, { percent: 70 }), h(A.Statistic, { title: 'Boats', value: 1128 })))`,
  }),
  app('preact', {
    imports: { preact: 'preact/dist/preact.mjs', 'preact/hooks': 'preact/hooks/dist/hooks.mjs' },
    run: `import { h, render } from 'preact'; import { useState, useEffect } from 'preact/hooks'; ${ITEMS} function App() { const [items, set] = useState([]); useEffect(() => { load().then(set) }, []); return ${H_LIST} } render(h(App), app)`,
  }),
  app('alpine', {
    body: `<main x-data="{ items: [], open: false }" x-init="items = (await (await fetch('/slow/250/api/items.json')).json()).items; open = true"><h1>Everything that floats</h1><p x-show="open" x-transition.duration.900ms>All items are here.</p><template x-for="item in items"><section class="card"><h2 x-text="item.title"></h2><img :src="item.image" width="200" height="130"></section></template></main>`,
    load: ['alpinejs/dist/cdn.min.js'],
  }),
  app('petite-vue', {
    load: ['petite-vue/dist/petite-vue.iife.js'],
    body: `<main v-scope @vue:mounted="load"><h1>Everything that floats</h1><section class="card" v-for="item of items"><h2>{{ item.title }}</h2><img :src="item.image" width="200" height="130"></section></main>`,
    run: `${ITEMS.replace('load', 'fetchItems')} PetiteVue.createApp({ items: [], async load() { this.items = await fetchItems() } }).mount()`,
  }),
  app('mithril', {
    load: ['mithril/mithril.min.js'],
    run: `let items = []; m.request('/slow/250/api/items.json').then((body) => { items = body.items }); m.mount(app, { view: () => m('main', m('h1', 'Everything that floats'), items.map((item) => m('section.card', m('h2', item.title), m('img', { src: item.image, width: 200, height: 130 })))) })`,
  }),
  app('knockout', {
    load: ['knockout/build/output/knockout-latest.js'],
    body: `<main><h1>Everything that floats</h1><div data-bind="foreach: items"><section class="card"><h2 data-bind="text: title"></h2><img width="200" height="130" data-bind="attr: { src: image }"></section></div></main>`,
    run: `${ITEMS} const model = { items: ko.observableArray() }; ko.applyBindings(model); model.items(await load())`,
  }),
  app('backbone', {
    load: ['jquery-3/dist/jquery.min.js', 'underscore/underscore-umd-min.js', 'backbone/backbone-min.js'],
    body: '<main><h1>Everything that floats</h1><div id="app"></div></main>',
    run: `const List = Backbone.Collection.extend({ url: '/slow/250/api/items.json', parse: ({ items }) => items }), list = new List(); list.on('sync', () => $('#app').html(list.toJSON().map((item) => \`${literal}\`).join(''))); list.fetch()`,
  }),
  app('htmx', {
    load: ['htmx.org/dist/htmx.min.js'],
    body: '<main><h1>Everything that floats</h1><div hx-get="/slow/300/api/items.html" hx-trigger="load">Loading …</div></main>',
  }),
  app('stimulus', {
    load: ['@hotwired/stimulus/dist/stimulus.umd.js'],
    body: '<main data-controller="items"><h1>Everything that floats</h1><div data-items-target="list"></div></main>',
    run: `${ITEMS} class Items extends Stimulus.Controller { static targets = ['list']; async connect() { this.listTarget.innerHTML = (await load()).map((item) => \`${literal}\`).join('') } } Stimulus.Application.start().register('items', Items)`,
  }),
  app('lit', {
    imports: {
      lit: 'lit/index.js',
      'lit/': 'lit/',
      'lit-html': 'lit-html/lit-html.js',
      'lit-html/': 'lit-html/',
      'lit-element/': 'lit-element/',
      '@lit/reactive-element': '@lit/reactive-element/reactive-element.js',
      '@lit/reactive-element/': '@lit/reactive-element/',
    },
    body: '<main><h1>Everything that floats</h1><harbor-items></harbor-items></main>',
    run: `import { LitElement, html } from 'lit'; ${ITEMS} customElements.define('harbor-items', class extends LitElement { static properties = { items: {} }; async connectedCallback() { super.connectedCallback(); this.items = []; this.items = await load() } render() { return this.items.map((item) => html\`<section><h2>\${item.title}</h2><img src=\${item.image} width="200" height="130"></section>\`) } })`,
  }),
  app('swagger-ui', {
    load: ['swagger-ui-dist/swagger-ui.css', 'swagger-ui-dist/swagger-ui-bundle.js'],
    run: `SwaggerUIBundle({ url: '/slow/100/api/openapi.json', dom_id: '#app' })`,
  }),
  app('redoc', { body: '<redoc spec-url="/slow/100/api/openapi.json"></redoc>', load: ['redoc/bundles/redoc.standalone.js'] }),
  app('rapidoc', { body: '<rapi-doc spec-url="/slow/100/api/openapi.json"></rapi-doc>', load: ['rapidoc/dist/rapidoc-min.js'] }),
  app('preloader', {
    body: `<style>#veil{position:fixed;inset:0;background:#264653;color:#fff;display:grid;place-items:center;font-size:40px;transition:opacity .6s;z-index:9}</style><div id="veil">Loading …</div><main><h1>Welcome</h1>${text(5)}${photo(2)}</main>`,
    run: `addEventListener('load', () => setTimeout(() => { veil.style.opacity = 0; veil.addEventListener('transitionend', () => veil.remove()) }, 500))`,
  }),
  app('late-redirect', { body: '<main><h1>One moment …</h1></main>', run: `setTimeout(() => { location.href = '/page/vue' }, 300)` }),
  app('shell', {
    body: `<div style="display:flex;height:100vh"><nav style="width:220px;background:#264653;color:#fff;padding:24px">Menu</nav><div style="flex:1;overflow:auto;padding:24px"><h1>Scrolls inside</h1>${text(30)}</div></div>`,
  }),
  page('app', 'monaco', {
    load: ['monaco-editor/min/vs/loader.js'],
    body: '<main><h1>An editor</h1><div id="app" class="box"></div></main>',
    run: `require.config({ paths: { vs: '/npm/monaco-editor/min/vs' } }); require(['vs/editor/editor.main'], () => monaco.editor.create(app, { value: 'const boats = 12\\nfunction land() {\\n  return boats * 2\\n}', language: 'javascript' }))`,
  }),
  page('app', 'ace', {
    load: ['ace-builds/src-min-noconflict/ace.js'],
    body: '<main><h1>An editor</h1><div id="app" class="box">const boats = 12\nfunction land() {\n  return boats * 2\n}</div></main>',
    run: `const editor = ace.edit(app); editor.setTheme('ace/theme/monokai'); editor.session.setMode('ace/mode/javascript')`,
  }),
  page('app', 'codemirror', {
    load: ['codemirror/lib/codemirror.css', 'codemirror/lib/codemirror.js', 'codemirror/mode/javascript/javascript.js'],
    body: '<main><h1>An editor</h1><div id="app"></div></main>',
    run: `CodeMirror(app, { value: 'const boats = 12\\nfunction land() {\\n  return boats * 2\\n}', lineNumbers: true, mode: 'javascript' })`,
  }),
  page('app', 'quill', {
    load: ['quill/dist/quill.snow.css', 'quill/dist/quill.js'],
    body: `<main><h1>An editor</h1><div id="app">${paragraph}</div></main>`,
    run: `new Quill(app, { theme: 'snow' })`,
  }),
  page('app', 'tinymce', {
    load: ['tinymce/tinymce.min.js'],
    body: `<main><h1>An editor</h1><textarea id="app">${paragraph}</textarea></main>`,
    run: `tinymce.init({ selector: '#app', license_key: 'gpl', height: 420 })`,
  }),
  page('app', 'video-js', {
    load: ['video.js/dist/video-js.min.css', 'video.js/dist/video.min.js'],
    body: `<main><h1>A player</h1><video id="app" class="video-js" controls width="800" height="420" poster="/photo/3.svg"></video>${text(4)}</main>`,
    run: `videojs('app')`,
  }),
  page('table', 'tabulator', {
    load: ['tabulator-tables/dist/css/tabulator.min.css', 'tabulator-tables/dist/js/tabulator.min.js'],
    body: '<main><h1>A table</h1><div id="app"></div></main>',
    run: `new Tabulator(app, { ajaxURL: '/slow/200/api/rows.json', autoColumns: true, layout: 'fitColumns', pagination: true, paginationSize: 20 })`,
  }),
  page('table', 'ag-grid', {
    load: ['ag-grid-community/dist/ag-grid-community.min.js'],
    body: '<main><h1>A table</h1><div id="app" class="box"></div></main>',
    run: `${DATA} agGrid.createGrid(app, { columnDefs: ['month', 'value', 'other'].map((field) => ({ field })), rowData: rows })`,
  }),
  page('table', 'datatables', {
    load: ['datatables.net-dt/css/dataTables.dataTables.min.css', 'jquery-3/dist/jquery.min.js', 'datatables.net/js/dataTables.min.js'],
    body: '<main><h1>A table</h1><table id="app" class="display" width="100%"></table></main>',
    run: `${DATA} new DataTable('#app', { data: rows, columns: ['month', 'value', 'other'].map((data) => ({ data, title: data })) })`,
  }),
  page('table', 'simple-datatables', {
    load: ['simple-datatables/dist/style.css', 'simple-datatables/dist/umd/simple-datatables.js'],
    body: '<main><h1>A table</h1><table id="app"></table></main>',
    run: `${DATA} new simpleDatatables.DataTable('#app', { data: { headings: ['Month', 'Boats'], data: rows.map(({ month, value }) => [month, String(value)]) } })`,
  }),
  page('table', 'fullcalendar', {
    load: [
      ...['skeleton', 'themes/classic/theme', 'themes/classic/palette'].map((name) => `fullcalendar/${name}.css`),
      ...['all', 'themes/classic'].map((name) => `fullcalendar/${name}/global.js`),
    ],
    body: '<main><h1>A calendar</h1><div id="app"></div></main>',
    run: `new FullCalendar.Calendar(app, { initialView: 'dayGridMonth', initialDate: '2026-06-01', events: [{ title: 'High tide', start: '2026-06-10' }, { title: 'Market', start: '2026-06-14', end: '2026-06-17' }] }).render()`,
  }),
]
