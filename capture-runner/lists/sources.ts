// Where the lists come from: packages of npm, pinned by their checksum. `npm run lists -- --newest` (refresh.ts) writes newer ones here.

/** One filter list of the package below, by AdGuard's number. */
export interface ListSource {
  /** Number of the list in the package. */
  filter: number
  name: string
}

/** The package that carries the texts of AdGuard's filter lists, EasyList among them. GPL-3.0; needed while images are built, and nowhere else. */
export const LIST_PACKAGE = {
  name: '@adguard/dnr-rulesets',
  version: '3.3.20260320140136',
  integrity: 'sha512-n0DqlWWlDYs4P6UdG1H5HQR/nVCMMxq6B6JMj6gvcP4uMvjmLKQw6rPg07vy5+Mn0ty9Q/3OYQldiHsqNSPzuQ==',
  license: 'GPL-3.0-only',
} as const

/** Names of the engines, and the lists that each is made of. */
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
