/** Index of the caches of Screenshots, ScreenshotSchedules, Webhooks and ApiKeys by account. */
export const ACCOUNT_INDEX = 'account'
