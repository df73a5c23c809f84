import type { Kind, WrittenPage } from './page.ts'
import { cards, hero, paragraph, photo, text } from './pieces.ts'

type Rest = Omit<WrittenPage, 'name' | 'kind'>
const page = (kind: Kind, name: string, rest: Rest): WrittenPage => ({ name, kind, ...rest })
const animation = (name: string, rest: Rest): WrittenPage => page('animation', name, rest)
const slides = (attributes: string): string =>
  Array.from(
    { length: 5 },
    (_, index) => `<div ${attributes}>${photo(index, 'width="600" height="390"')}<h3>Slide ${index + 1}</h3></div>`,
  ).join('')
const counters =
  '<main><h1>In figures</h1><div class="row"><div class="card"><b id="a" style="font-size:60px">0</b></div><div class="card"><b id="b" style="font-size:60px">0</b></div></div></main>'
const lottie = `{ v: '5.5.7', fr: 30, ip: 0, op: 60, w: 400, h: 400, layers: [{ ty: 4, ind: 1, ip: 0, op: 60, st: 0, sr: 1, ks: { o: { a: 0, k: 100 }, r: { a: 1, k: [{ t: 0, s: [0], i: { x: [1], y: [1] }, o: { x: [0], y: [0] } }, { t: 45, s: [135] }] }, p: { a: 0, k: [200, 200, 0] }, a: { a: 0, k: [0, 0, 0] }, s: { a: 0, k: [100, 100, 100] } }, shapes: [{ ty: 'gr', it: [{ ty: 'rc', d: 1, s: { a: 0, k: [180, 180] }, p: { a: 0, k: [0, 0] }, r: { a: 0, k: 20 } }, { ty: 'fl', c: { a: 0, k: [0.72, 0.27, 0.18, 1] }, o: { a: 0, k: 100 } }, { ty: 'tr', p: { a: 0, k: [0, 0] }, a: { a: 0, k: [0, 0] }, s: { a: 0, k: [100, 100] }, r: { a: 0, k: 0 }, o: { a: 0, k: 100 } }] }] }] }`
const JQUERY = 'jquery-3/dist/jquery.min.js'

export const animations: readonly WrittenPage[] = [
  animation('aos', {
    hides: true,
    load: ['aos/dist/aos.css', 'aos/dist/aos.js'],
    body: `${hero('Fades up', 'data-aos="fade-up" data-aos-duration="1200"')}<main>${cards(10, (index) => `data-aos="${['fade-up', 'fade-right', 'zoom-in'][index % 3]}"`)}</main>`,
    run: 'AOS.init()',
  }),
  animation('aos-once', {
    load: ['aos/dist/aos.css', 'aos/dist/aos.js'],
    body: `<main><h1 data-aos="flip-up">Flips up</h1>${cards(10, () => 'data-aos="flip-left"')}</main>`,
    run: 'AOS.init({ once: true, duration: 800 })',
  }),
  animation('scrollreveal', {
    load: ['scrollreveal/dist/scrollreveal.min.js'],
    body: `${hero('Reveals')}<main>${cards(10)}</main>`,
    run: `ScrollReveal().reveal('.hero h1', { duration: 1200, distance: '60px' }); ScrollReveal().reveal('.card', { interval: 100 })`,
  }),
  animation('scrollreveal-reset', {
    hides: true,
    load: ['scrollreveal/dist/scrollreveal.min.js'],
    body: `<main><h1>Reveals again</h1>${cards(10)}</main>`,
    run: `ScrollReveal({ reset: true, distance: '80px' }).reveal('.card')`,
  }),
  animation('gsap-intro', {
    load: ['gsap/dist/gsap.min.js'],
    body: `${hero('Welcome to the harbor')}<main>${cards(3)}</main>`,
    run: `gsap.from('.hero h1', { y: 80, opacity: 0, duration: 1.2 }); gsap.from('.card', { opacity: 0, stagger: 0.2 })`,
  }),
  animation('gsap-scroll', {
    load: ['gsap/dist/gsap.min.js', 'gsap/dist/ScrollTrigger.min.js'],
    body: `${hero('Scroll down')}<main>${cards(10)}</main>`,
    run: `gsap.registerPlugin(ScrollTrigger); gsap.utils.toArray('.card').forEach((card) => gsap.from(card, { opacity: 0, x: -100, duration: 0.8, scrollTrigger: card }))`,
  }),
  animation('gsap-reverse', {
    hides: true,
    load: ['gsap/dist/gsap.min.js', 'gsap/dist/ScrollTrigger.min.js'],
    body: `<main><h1>And back</h1>${cards(10)}</main>`,
    run: `gsap.registerPlugin(ScrollTrigger); gsap.utils.toArray('.card').forEach((card) => gsap.from(card, { opacity: 0, y: 60, scrollTrigger: { trigger: card, toggleActions: 'play none none reverse' } }))`,
  }),
  animation('anime', {
    load: ['animejs/dist/bundles/anime.umd.min.js'],
    body: `${hero('In steps')}<main>${cards(4)}</main>`,
    run: `anime.animate('.hero h1', { opacity: [0, 1], translateY: [60, 0], duration: 1200 }); anime.animate('.card', { opacity: [0, 1], delay: anime.stagger(150) })`,
  }),
  animation('animate-css', {
    load: ['animate.css/animate.min.css'],
    body: `${hero('Comes in', 'class="animate__animated animate__fadeInDown animate__slower"')}<main>${cards(4, () => 'class="animate__animated animate__backInLeft animate__delay-1s"')}</main>`,
  }),
  animation('wow', {
    load: ['animate.css/animate.compat.css', 'wowjs/dist/wow.min.js'],
    body: `${hero('Comes in on scroll')}<main>${cards(10).replaceAll('class="card"', 'class="card wow fadeInUp"')}</main>`,
    run: 'new (WOW.WOW ?? WOW)().init()',
  }),
  animation('sal', {
    load: ['sal.js/dist/sal.css', 'sal.js/dist/sal.js'],
    body: `<main><h1 data-sal="slide-up" data-sal-duration="1000">Slides up</h1>${cards(10, () => 'data-sal="slide-up" data-sal-duration="700"')}</main>`,
    run: 'sal()',
  }),
  animation('motion', {
    load: ['motion/dist/motion.js'],
    body: `${hero('Springs')}<main>${cards(8)}</main>`,
    run: `const { animate, inView } = Motion; animate('.hero h1', { opacity: [0, 1], scale: [0.4, 1] }, { duration: 1 }); document.querySelectorAll('.card').forEach((card) => { card.style.opacity = 0; inView(card, () => { animate(card, { opacity: 1 }, { duration: 0.6 }) }) })`,
  }),
  animation('view-timeline', {
    body: `<style>.card{animation:in linear both;animation-timeline:view();animation-range:entry 0% cover 30%}@keyframes in{from{opacity:0;translate:-120px}}</style><main><h1>By scrolling alone</h1>${cards(10)}</main>`,
    hides: true,
  }),
  animation('css-intro', {
    body: `<style>.hero h1{animation:up 1.1s .3s both}@keyframes up{from{opacity:0;translate:0 60px}}.hero{animation:veil .8s both}@keyframes veil{from{filter:brightness(0)}}</style>${hero('An intro')}<main>${text(4)}</main>`,
  }),
  animation('lottie', {
    load: ['lottie-web/build/player/lottie.min.js'],
    body: `<main><h1>A shape</h1><div id="app" style="width:400px"></div>${text(3)}</main>`,
    run: `lottie.loadAnimation({ container: app, loop: false, animationData: ${lottie} })`,
  }),
  animation('lottie-loop', {
    moves: true,
    load: ['lottie-web/build/player/lottie.min.js'],
    body: `<main><h1>A shape that turns</h1><div id="app" style="width:400px"></div>${text(3)}</main>`,
    run: `lottie.loadAnimation({ container: app, loop: true, animationData: ${lottie} })`,
  }),
  animation('countup', {
    load: ['countup.js/dist/countUp.umd.js'],
    body: counters,
    run: `new countUp.CountUp('a', 12345).start(); new countUp.CountUp('b', 678, { duration: 1.5 }).start()`,
  }),
  animation('odometer', {
    load: ['odometer/themes/odometer-theme-default.css', 'odometer/odometer.min.js'],
    body: counters.replace('id="a"', 'id="a" class="odometer"'),
    run: `setTimeout(() => { a.innerHTML = 12345; b.textContent = 'boats' }, 200)`,
  }),
  animation('progressbar', {
    load: ['progressbar.js/dist/progressbar.min.js'],
    body: '<main><h1>Half way</h1><div id="app" style="width:300px"></div></main>',
    run: `new ProgressBar.Circle(app, { color: '#b8452e', strokeWidth: 6, duration: 1400, text: { value: '75 %' } }).animate(0.75)`,
  }),
  animation('typed', {
    load: ['typed.js/dist/typed.umd.js'],
    body: `<main><h1><span id="app"></span></h1>${text(3)}</main>`,
    run: `new Typed('#app', { strings: ['Boats come in.'], typeSpeed: 40, showCursor: false })`,
  }),
  animation('typeit', {
    load: ['typeit/dist/index.umd.js'],
    body: `<main><h1 id="app"></h1>${text(3)}</main>`,
    run: `new TypeIt('#app', { strings: 'Boats come in.', speed: 45, cursor: false }).go()`,
  }),
  animation('splitting', {
    load: ['splitting/dist/splitting.css', 'splitting/dist/splitting.min.js'],
    body: `<style>.char{animation:in .6s both;animation-delay:calc(50ms * var(--char-index))}@keyframes in{from{opacity:0;translate:0 1em}}</style>${hero('Letter by letter', 'data-splitting')}<main>${text(3)}</main>`,
    run: 'Splitting()',
  }),
  animation('vivus', {
    load: ['vivus/dist/vivus.min.js'],
    body: '<main><h1>Drawn</h1><svg id="app" width="600" height="300" fill="none" stroke="#b8452e" stroke-width="6"><path d="M20 280 150 60 280 280 410 60 540 280"/><circle cx="300" cy="150" r="90"/></svg></main>',
    run: `new Vivus('app', { duration: 80 })`,
  }),
  animation('rough-notation', {
    imports: { rough: 'rough-notation/lib/rough-notation.esm.js' },
    moves: true,
    body: `<main><h1><span id="app">Marked by hand</span></h1>${text(3)}</main>`,
    run: `import { annotate } from 'rough'; annotate(app, { type: 'highlight', color: '#e9c46a', animationDuration: 1200 }).show()`,
  }),
  animation('swiper', {
    load: ['swiper/swiper-bundle.min.css', 'swiper/swiper-bundle.min.js'],
    body: `<main><h1>Slides</h1><div class="swiper"><div class="swiper-wrapper">${slides('class="swiper-slide"')}</div><div class="swiper-pagination"></div></div>${text(4)}</main>`,
    run: `new Swiper('.swiper', { slidesPerView: 2, spaceBetween: 20, pagination: { el: '.swiper-pagination' } })`,
  }),
  animation('swiper-autoplay', {
    moves: true,
    load: ['swiper/swiper-bundle.min.css', 'swiper/swiper-bundle.min.js'],
    body: `<main><h1>Slides that move</h1><div class="swiper"><div class="swiper-wrapper">${slides('class="swiper-slide"')}</div></div>${text(4)}</main>`,
    run: `new Swiper('.swiper', { effect: 'fade', autoplay: { delay: 900 }, loop: true })`,
  }),
  animation('slick', {
    load: ['slick-carousel/slick/slick.css', 'slick-carousel/slick/slick-theme.css', JQUERY, 'slick-carousel/slick/slick.min.js'],
    body: `<main><h1>Slides</h1><div id="app">${slides('')}</div>${text(4)}</main>`,
    run: `$('#app').slick({ slidesToShow: 2, dots: true })`,
  }),
  animation('owl', {
    load: [
      'owl.carousel/dist/assets/owl.carousel.min.css',
      'owl.carousel/dist/assets/owl.theme.default.min.css',
      JQUERY,
      'owl.carousel/dist/owl.carousel.min.js',
    ],
    body: `<main><h1>Slides</h1><div id="app" class="owl-carousel">${slides('')}</div>${text(4)}</main>`,
    run: `$('#app').owlCarousel({ items: 3, margin: 20 })`,
  }),
  animation('glide', {
    load: ['@glidejs/glide/dist/css/glide.core.min.css', '@glidejs/glide/dist/glide.min.js'],
    body: `<main><h1>Slides</h1><div class="glide"><div class="glide__track" data-glide-el="track"><div class="glide__slides">${slides('class="glide__slide"')}</div></div></div>${text(4)}</main>`,
    run: `new Glide('.glide', { perView: 3 }).mount()`,
  }),
  animation('flickity', {
    load: ['flickity/dist/flickity.min.css', 'flickity/dist/flickity.pkgd.min.js'],
    body: `<main><h1>Slides</h1><div id="app">${slides('')}</div>${text(4)}</main>`,
    run: `new Flickity(app, { wrapAround: true })`,
  }),
  animation('tiny-slider', {
    load: ['tiny-slider/dist/tiny-slider.css', 'tiny-slider/dist/min/tiny-slider.js'],
    body: `<main><h1>Slides</h1><div id="app">${slides('')}</div>${text(4)}</main>`,
    run: `tns({ container: '#app', items: 2 })`,
  }),
  animation('rellax', {
    load: ['rellax/rellax.min.js'],
    body: `${hero('Parallax', 'class="rellax" data-rellax-speed="-3"')}<main>${cards(6)}</main>`,
    run: `new Rellax('.rellax')`,
  }),
  animation('fixed-background', {
    body: `<style>.band{height:420px;background:url(/photo/2.svg) center/cover fixed;margin:32px 0;display:grid;place-items:center;color:#fff;font-size:48px}</style><main><h1>Fixed backgrounds</h1>${text(4)}<div class="band">First</div>${text(6)}<div class="band">Second</div>${text(6)}<div class="band">Third</div></main>`,
  }),
  animation('content-visibility', {
    hides: true,
    body: `<style>.card{content-visibility:auto;contain-intrinsic-size:auto 300px}</style><main><h1>Skipped until it is near</h1>${cards(25)}</main>`,
  }),
  animation('sticky-header', {
    body: `<style>nav{position:sticky;top:0;padding:28px;background:#264653;color:#fff;transition:padding .4s,background .4s;z-index:2}nav.small{padding:8px 28px;background:#b8452e}</style><nav>Harbor</nav><main>${cards(8)}</main>`,
    run: `addEventListener('scroll', () => document.querySelector('nav').classList.toggle('small', scrollY > 50))`,
  }),
  animation('particles', {
    moves: true,
    load: ['particles.js/particles.js'],
    body: `<div id="app" style="height:500px;background:#264653"></div><main>${text(4)}</main>`,
    run: `particlesJS('app', { particles: { number: { value: 60 }, line_linked: { enable: true } } })`,
  }),
  animation('tsparticles', {
    moves: true,
    load: ['@tsparticles/slim/tsparticles.slim.bundle.min.js'],
    body: `<div id="app" style="height:500px;position:relative;background:#264653"></div><main>${text(4)}</main>`,
    run: `await loadSlim?.(tsParticles); await tsParticles.load({ id: 'app', options: { fullScreen: false, particles: { number: { value: 50 }, move: { enable: true }, links: { enable: true } } } })`,
  }),
  animation('confetti', {
    load: ['canvas-confetti/dist/confetti.browser.js'],
    moves: true,
    body: `<main><h1>Well done</h1>${text(6)}</main>`,
    run: 'confetti({ particleCount: 150 })',
  }),
  animation('nprogress', {
    load: ['nprogress/nprogress.css', 'nprogress/nprogress.js'],
    body: `<main><h1>A bar on top</h1>${text(6)}</main>`,
    run: 'NProgress.start(); setTimeout(() => NProgress.done(), 700)',
  }),
  animation('pace', {
    load: ['pace-js/pace-theme-default.min.css', 'pace-js/pace.min.js'],
    body: `<style>main{opacity:0;transition:opacity .5s}.pace-done main{opacity:1}</style><main><h1>Shown when loaded</h1>${text(6)}</main>`,
  }),
  animation('parallax', {
    load: ['parallax-js/dist/parallax.min.js'],
    body: `<div id="app" style="height:500px;overflow:hidden"><div data-depth="0.2">${photo(1, 'width="900"')}</div><div data-depth="0.6">${photo(4, 'width="400"')}</div></div><main>${text(4)}</main>`,
    run: 'new Parallax(app)',
  }),
  animation('masonry', {
    load: ['masonry-layout/dist/masonry.pkgd.min.js'],
    body: `<main><h1>Bricks</h1><div id="app">${Array.from({ length: 20 }, (_, index) => `<div class="brick" style="width:260px;height:${120 + (index % 5) * 40}px;margin:8px;background:#${index % 2 ? 'e9c46a' : '2a9d8f'}">${index + 1}</div>`).join('')}</div></main>`,
    run: `new Masonry(app, { itemSelector: '.brick', columnWidth: 276 })`,
  }),
  animation('isotope', {
    load: ['isotope-layout/dist/isotope.pkgd.min.js'],
    body: `<main><h1>Sorted</h1><div id="app">${Array.from({ length: 20 }, (_, index) => `<div class="brick ${index % 2 ? 'odd' : 'even'}" style="width:260px;height:${120 + (index % 5) * 40}px;margin:8px;background:#${index % 2 ? 'e9c46a' : '2a9d8f'}">${index + 1}</div>`).join('')}</div></main>`,
    run: `const grid = new Isotope(app, { itemSelector: '.brick' }); setTimeout(() => grid.arrange({ filter: '.odd' }), 200)`,
  }),
  animation('lazysizes', {
    load: ['lazysizes/lazysizes.min.js'],
    body: `<main><h1>Late pictures</h1>${Array.from({ length: 12 }, (_, index) => `<p><img class="lazyload" data-src="/slow/120/photo/${(index % 6) + 1}.svg?${index}" width="500" height="325"></p>`).join('')}</main>`,
  }),
  animation('lazyload', {
    load: ['vanilla-lazyload/dist/lazyload.min.js'],
    body: `<style>img{opacity:0;transition:opacity .5s}img.loaded{opacity:1}</style><main><h1>Pictures that fade in</h1>${Array.from({ length: 12 }, (_, index) => `<p><img class="lazy" data-src="/slow/120/photo/${(index % 6) + 1}.svg?${index}" width="500" height="325"></p>`).join('')}</main>`,
    run: `new LazyLoad({ elements_selector: '.lazy' })`,
  }),
  animation('photoswipe', {
    load: ['photoswipe/dist/photoswipe.css'],
    imports: { photoswipe: 'photoswipe/dist/photoswipe.esm.js' },
    body: `<main><h1>Pictures</h1>${photo(1)}${photo(2)}</main>`,
    run: `import PhotoSwipe from 'photoswipe'; new PhotoSwipe({ dataSource: [{ src: '/photo/3.svg', width: 1200, height: 780 }] }).init()`,
  }),
  animation('sweetalert', {
    load: ['sweetalert2/dist/sweetalert2.all.min.js'],
    body: `<main><h1>Saved</h1>${text(4)}</main>`,
    run: `Swal.fire({ title: 'Saved', text: 'The boat is in the book.', icon: 'success' })`,
  }),
  animation('intro', {
    load: ['intro.js/minified/introjs.min.css', 'intro.js/minified/intro.min.js'],
    body: `<main><h1 data-intro="This is the harbor">Welcome</h1>${text(4)}</main>`,
    run: '(introJs.tour ? introJs.tour() : introJs()).start()',
  }),
  animation('driver', {
    load: ['driver.js/dist/driver.css', 'driver.js/dist/driver.js.iife.js'],
    body: `<main><h1 id="app" style="width:300px">Welcome</h1>${text(4)}</main>`,
    run: `driver.js.driver().highlight({ element: '#app', popover: { title: 'The harbor', description: 'Boats come in here.' } })`,
  }),

  page('consent', 'klaro', {
    load: ['klaro/dist/klaro.js'],
    body: `<main><h1>News</h1>${text(6)}</main>`,
    run: `klaro.setup({ version: 1, elementID: 'k', mustConsent: false, services: [{ name: 'stats', purposes: ['analytics'], title: 'Stats' }] })`,
  }),
  page('consent', 'cookieconsent', {
    load: ['cookieconsent/build/cookieconsent.min.css', 'cookieconsent/build/cookieconsent.min.js'],
    body: `<main><h1>News</h1>${text(6)}</main>`,
    run: `window.cookieconsent.initialise({ palette: { popup: { background: '#264653' }, button: { background: '#e9c46a' } } })`,
  }),
  page('consent', 'vanilla-consent', {
    load: ['vanilla-cookieconsent/dist/cookieconsent.css', 'vanilla-cookieconsent/dist/cookieconsent.umd.js'],
    body: `<main><h1>News</h1>${text(6)}</main>`,
    run: `CookieConsent.run({ hideFromBots: false, categories: { necessary: { enabled: true, readOnly: true }, stats: {} }, language: { default: 'en', translations: { en: { consentModal: { title: 'We use cookies', description: 'May we?', acceptAllBtn: 'Accept all', acceptNecessaryBtn: 'Reject all' }, preferencesModal: { sections: [] } } } } })`,
  }),
  page('consent', 'orejime', {
    load: ['orejime/dist/orejime-standard.css', 'orejime/dist/orejime-standard-en.js'],
    body: `<main><h1>News</h1>${text(6)}</main><script>window.orejimeConfig = { purposes: [{ id: 'stats', title: 'Statistics', cookies: ['s'] }], privacyPolicyUrl: '/privacy' }</script>`,
  }),
  page('consent', 'tarteaucitron', {
    load: ['tarteaucitronjs/tarteaucitron.js'],
    body: `<main><h1>News</h1>${text(6)}</main>`,
    run: `tarteaucitron.init({ privacyUrl: '', bodyPosition: 'bottom', orientation: 'middle', cookieName: 't', showAlertSmall: false, cookieslist: false }); (tarteaucitron.job = tarteaucitron.job || []).push('youtube')`,
  }),

  page('webassembly', 'sql-js', {
    load: ['sql.js/dist/sql-wasm.js'],
    body: '<main><h1>From a database</h1><p id="app">Loading …</p></main>',
    run: `const SQL = await initSqlJs({ locateFile: (file) => '/npm/sql.js/dist/' + file }); const db = new SQL.Database(); db.run("create table boats (name); insert into boats values ('Anna'), ('Berta'), ('Clara')"); app.innerHTML = db.exec('select name from boats')[0].values.map(([name]) => '<h2>' + name + '</h2>').join('')`,
  }),
  page('webassembly', 'viz-js', {
    load: ['@viz-js/viz/dist/viz-global.js'],
    body: '<main><h1>A graph</h1><div id="app"></div></main>',
    run: `const viz = await Viz.instance(); app.append(viz.renderSVGElement('digraph { sea -> harbor -> pier; harbor -> market; pier -> market }'))`,
  }),
  page('webassembly', 'pyodide', {
    load: ['pyodide/pyodide.js'],
    body: '<main><h1>From Python</h1><pre id="app">Loading …</pre></main>',
    run: `const python = await loadPyodide({ indexURL: '/npm/pyodide/' }); app.textContent = python.runPython("'\\\\n'.join(f'{n} boats pay {n * 12}' for n in range(1, 12))")`,
  }),
  page('webassembly', 'worker', {
    body: '<main><h1>From a worker</h1><p id="app">Counting …</p></main>',
    run: `const worker = new Worker(URL.createObjectURL(new Blob(["setTimeout(() => postMessage('Twelve boats'), 400)"]))); worker.onmessage = ({ data }) => { app.innerHTML = '<h2>' + data + '</h2>' }`,
  }),
  page('webassembly', 'pdf-js', {
    imports: { pdfjs: 'pdfjs-dist/build/pdf.mjs' },
    body: '<main><h1>A PDF</h1><canvas id="app"></canvas></main>',
    run: `import * as pdfjs from 'pdfjs'; pdfjs.GlobalWorkerOptions.workerSrc = '/npm/pdfjs-dist/build/pdf.worker.mjs'; const page = await (await pdfjs.getDocument('/debian/usr/share/doc/bash-doc/bash.pdf').promise).getPage(1); const viewport = page.getViewport({ scale: 1.2 }); Object.assign(app, { width: viewport.width, height: viewport.height }); await page.render({ canvasContext: app.getContext('2d'), viewport }).promise`,
  }),

  page('component', 'shoelace', {
    load: ['@shoelace-style/shoelace/cdn/themes/light.css'],
    body: `<script type="module" src="/npm/@shoelace-style/shoelace/cdn/shoelace-autoloader.js"></script><main><h1>Components</h1><sl-alert open variant="success">The harbor is open</sl-alert><sl-card style="margin:24px 0">A card with a <sl-button variant="primary">Button</sl-button></sl-card><sl-progress-bar value="60"></sl-progress-bar><sl-rating value="4"></sl-rating><sl-details open summary="Details">${paragraph}</sl-details></main>`,
  }),
  page('component', 'ionic', {
    load: ['@ionic/core/css/ionic.bundle.css'],
    body: `<script type="module" src="/npm/@ionic/core/dist/ionic/ionic.esm.js"></script><ion-app><ion-header><ion-toolbar><ion-title>Harbor</ion-title></ion-toolbar></ion-header><ion-content class="ion-padding"><ion-card><ion-card-header><ion-card-title>Boats</ion-card-title></ion-card-header><ion-card-content>${paragraph}</ion-card-content></ion-card><ion-button>Come in</ion-button><ion-progress-bar value="0.6"></ion-progress-bar></ion-content></ion-app>`,
  }),
  page('component', 'tabler', {
    load: ['@tabler/core/dist/css/tabler.min.css', '@tabler/core/dist/js/tabler.min.js'],
    body: `<main><div class="row"><div class="card p-4"><h2>Boats</h2><div class="progress"><div class="progress-bar" style="width:60%"></div></div></div><div class="card p-4"><span class="badge bg-green">open</span><button class="btn btn-primary">Come in</button></div></div>${text(4)}</main>`,
  }),
  page('component', 'bootstrap', {
    load: [
      'bootstrap/dist/css/bootstrap.min.css',
      'bootstrap-icons/font/bootstrap-icons.min.css',
      'bootstrap/dist/js/bootstrap.bundle.min.js',
    ],
    body: `<div class="container py-4"><h1><i class="bi bi-water"></i> Harbor</h1><div class="toast" id="note"><div class="toast-body">Saved</div></div><div class="modal fade" id="app"><div class="modal-dialog"><div class="modal-content"><div class="modal-body"><h2>A dialog</h2>${paragraph}</div></div></div></div>${text(5)}</div>`,
    run: `new bootstrap.Modal(app).show(); new bootstrap.Toast(note, { autohide: false }).show()`,
  }),
  page('component', 'semantic', {
    load: ['semantic-ui-css/semantic.min.css', JQUERY, 'semantic-ui-css/semantic.min.js'],
    body: `<main><h1 class="ui header">Harbor</h1><div class="ui progress" id="app" data-percent="70"><div class="bar"></div><div class="label">Boats</div></div><div class="ui three cards"><div class="card"><div class="content">One</div></div><div class="card"><div class="content">Two</div></div></div>${text(4)}</main>`,
    run: `$('#app').progress()`,
  }),
  page('component', 'shadow-banner', {
    body: `<main><h1>News</h1>${text(8)}</main><div id="app"></div>`,
    run: `app.attachShadow({ mode: 'open' }).innerHTML = '<div style="position:fixed;left:0;right:0;bottom:0;padding:40px;background:#333;color:#fff">We value your privacy: this site uses cookies. <button>OK</button></div>'`,
  }),

  page('text', 'fontsource', {
    load: ['@fontsource/inter/400.css', '@fontsource/playfair-display/700.css'],
    body: `<style>body{font-family:Inter} h1{font-family:'Playfair Display'}</style><main><h1>Set in two faces</h1>${text(6)}</main>`,
  }),
  page('text', 'scripts', {
    load: ['@fontsource/noto-sans-jp/400.css', '@fontsource/noto-sans-arabic/400.css', '@fontsource/noto-serif-devanagari/400.css'],
    body: `<main><h1>Many scripts</h1><p style="font:24px 'Noto Sans JP'">港は六時に開きます。船は満潮の前に入ります。</p><p style="font:24px 'Noto Sans Arabic'" dir="rtl">يفتح الميناء في الساعة السادسة.</p><p style="font:24px 'Noto Serif Devanagari'">बंदरगाह छह बजे खुलता है।</p></main>`,
  }),
  page('text', 'font-late', {
    body: `<style>@font-face{font-family:Late;src:url(/slow/500/npm/@fontsource/playfair-display/files/playfair-display-latin-700-normal.woff2)} h1{font:72px Late}</style><main><h1>A font that comes late</h1>${text(4)}</main>`,
  }),
  page('text', 'katex', {
    load: ['katex/dist/katex.min.css', 'katex/dist/katex.min.js', 'katex/dist/contrib/auto-render.min.js'],
    body: `<main><h1>Formulas</h1><p>$$\\int_0^1 x^2\\,dx = \\frac13$$</p><p>$$e^{i\\pi} + 1 = 0$$</p>${text(3)}</main>`,
    run: `renderMathInElement(document.body)`,
  }),
  page('text', 'mathjax', {
    load: ['mathjax/es5/tex-svg.js'],
    body: `<main><h1>Formulas</h1><p>$$\\int_0^1 x^2\\,dx = \\frac13$$</p><p>$$\\sum_{n=1}^\\infty \\frac1{n^2} = \\frac{\\pi^2}6$$</p>${text(3)}</main>`,
  }),
  page('text', 'twemoji', {
    load: ['twemoji/dist/twemoji.min.js'],
    body: `<main><h1>⚓ 🚢 🐟 🌊</h1><i class="fa"></i>${text(3)}</main>`,
  }),
  page('text', 'font-awesome', {
    load: ['@fortawesome/fontawesome-free/js/all.min.js'],
    body: `<main><h1><i class="fa-solid fa-anchor"></i> <i class="fa-solid fa-ship"></i> <i class="fa-solid fa-water"></i> Harbor</h1>${text(3)}</main>`,
  }),
]
