"""What `wayseal-gateway doctor` looks at: how a gateway and all around it stand today."""
