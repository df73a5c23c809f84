/** States of records, runs and deliveries in words. */
export const STATUS_TITLES: Readonly<Record<string, string>> = {
  pending: 'Pending',
  completed: 'Completed',
  failed: 'Failed',
  deleted: 'Deleted',
  successful: 'Successful',
}
