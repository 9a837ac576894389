// Sends on what the identity provider gave, so that the address it called changed nothing by itself.
document.getElementById("returned").submit();
