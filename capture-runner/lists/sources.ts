// Source of the filter lists: an npm package, pinned by its checksum. `npm run lists -- --newest` (refresh.ts) writes a newer release here.

/** One filter list of the package below. */
export interface ListSource {
  /** AdGuard's number of the list. */
  filter: number
  name: string
}

/** The package with the texts of AdGuard's filter lists, including EasyList. GPL-3.0. Only needed to build images. */
export const LIST_PACKAGE = {
  name: '@adguard/dnr-rulesets',
  version: '3.3.20260320140136',
  integrity: 'sha512-n0DqlWWlDYs4P6UdG1H5HQR/nVCMMxq6B6JMj6gvcP4uMvjmLKQw6rPg07vy5+Mn0ty9Q/3OYQldiHsqNSPzuQ==',
  license: 'GPL-3.0-only',
} as const

/** Engine names, and the lists of each engine. */
export const ENGINES = {
  ads: [{ filter: 2, name: 'AdGuard Base filter with EasyList' }],
  trackers: [{ filter: 3, name: 'AdGuard Tracking Protection filter' }],
  banners: [{ filter: 18, name: 'AdGuard Cookie Notices filter' }],
  chats: [{ filter: 22, name: 'AdGuard Widgets filter' }],
  socials: [{ filter: 4, name: 'AdGuard Social Media filter' }],
  annoyances: [
    { filter: 19, name: 'AdGuard Popups filter' },
    { filter: 20, name: 'AdGuard Mobile App Banners filter' },
    { filter: 21, name: 'AdGuard Other Annoyances filter' },
  ],
} as const satisfies Record<string, readonly ListSource[]>
