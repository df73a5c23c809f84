import type { Kind, PackagePage } from './page.ts'

/** Pages with a video, a carousel or something chosen at random. */
const MOVING: ReadonlySet<string> = new Set(['coming-soon', 'new-age', 'now-ui-kit', 'sqlite'])

const of = (kind: Kind, files: Readonly<Record<string, string>>, root?: string): PackagePage[] =>
  Object.entries(files).map(([name, file]) => ({
    name,
    kind,
    file,
    ...(root === undefined ? {} : { root }),
    ...(MOVING.has(name) ? { moves: true } : {}),
  }))

const one = (page: string): string => `npm/startbootstrap-${page}/dist/index.html`

/** Templates, dashboards and documents that packages contain. */
export const packagePages: readonly PackagePage[] = [
  ...of('template', {
    agency: one('agency'),
    freelancer: one('freelancer'),
    creative: one('creative'),
    'clean-blog': one('clean-blog'),
    grayscale: one('grayscale'),
    'new-age': one('new-age'),
    landing: one('landing-page'),
    resume: one('resume'),
    stylish: one('stylish-portfolio'),
    business: one('business-casual'),
    'coming-soon': one('coming-soon'),
    wonder: one('one-page-wonder'),
    modern: one('modern-business'),
    'modern-pricing': 'npm/startbootstrap-modern-business/dist/pricing.html',
    shop: one('shop-homepage'),
    blog: one('blog-home'),
    scrolling: one('scrolling-nav'),
    'full-width': one('full-width-pics'),
    'sb-admin-2': 'npm/startbootstrap-sb-admin-2/index.html',
    'sb-admin-2-charts': 'npm/startbootstrap-sb-admin-2/charts.html',
    'sb-admin-2-tables': 'npm/startbootstrap-sb-admin-2/tables.html',
    'admin-lte-widgets': 'npm/admin-lte-3/pages/widgets.html',
    'admin-lte-gallery': 'npm/admin-lte-3/pages/gallery.html',
    'admin-lte-timeline': 'npm/admin-lte-3/pages/UI/timeline.html',
    'now-ui-kit': 'npm/now-ui-kit/index.html',
    'now-ui-landing': 'npm/now-ui-kit/examples/landing-page.html',
    'paper-dashboard': 'npm/paper-dashboard/dashboard.html',
    'material-kit': 'npm/material-kit/index.html',
    'material-kit-landing': 'npm/material-kit/examples/landing-page.html',
    'material-dashboard': 'npm/material-dashboard/pages/dashboard.html',
    'soft-ui': 'npm/soft-ui-dashboard/pages/dashboard.html',
    'soft-ui-billing': 'npm/soft-ui-dashboard/pages/billing.html',
    reveal: 'npm/reveal.js/demo.html',
  }),
  ...of(
    'template',
    {
      gentelella: 'npm/gentelella/dist/production/index.html',
      'gentelella-charts': 'npm/gentelella/dist/production/chartjs.html',
      'gentelella-echarts': 'npm/gentelella/dist/production/echarts.html',
      'gentelella-landing': 'npm/gentelella/dist/production/landing.html',
      'gentelella-kanban': 'npm/gentelella/dist/production/kanban.html',
    },
    'npm/gentelella/dist',
  ),
  ...of('documentation', {
    'python-index': 'debian/usr/share/doc/python3.11/html/index.html',
    'python-asyncio': 'debian/usr/share/doc/python3.11/html/library/asyncio-task.html',
    sqlite: 'debian/usr/share/doc/sqlite3/index.html',
    'sqlite-select': 'debian/usr/share/doc/sqlite3/lang_select.html',
    git: 'debian/usr/share/doc/git-doc/git-add.html',
    django: 'debian/usr/share/doc/python-django-doc/html/index.html',
    apache: 'debian/usr/share/doc/apache2-doc/manual/en/index.html',
    handbook: 'debian/usr/share/doc/debian-handbook/html/en-US/index.html',
    'handbook-japanese': 'debian/usr/share/doc/debian-handbook/html/ja-JP/index.html',
    'handbook-persian': 'debian/usr/share/doc/debian-handbook/html/fa-IR/index.html',
    flask: 'debian/usr/share/doc/python-flask-doc/html/index.html',
    requests: 'debian/usr/share/doc/python-requests-doc/html/index.html',
    sqlalchemy: 'debian/usr/share/doc/python-sqlalchemy-doc/html/index.html',
    node: 'debian/usr/share/doc/nodejs/api/url.html',
    'sphinx-alabaster': 'pypi/site/alabaster/index.html',
    'sphinx-furo': 'pypi/site/furo/index.html',
    'sphinx-rtd': 'pypi/site/sphinx_rtd_theme/index.html',
    'sphinx-pydata': 'pypi/site/pydata_sphinx_theme/index.html',
    'sphinx-book': 'pypi/site/sphinx_book_theme/index.html',
    'mkdocs-plain': 'pypi/site/mkdocs/index.html',
    'mkdocs-rtd': 'pypi/site/readthedocs/index.html',
    'mkdocs-material': 'pypi/site/material/index.html',
    pdoc: 'pypi/site/pdoc/markdown2.html',
  }),
]
